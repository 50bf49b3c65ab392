import { describe, expect, it } from 'vitest';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import type { AnyObject } from '../kube/api.ts';
import { applierOf, patchFor } from './applier.ts';

/** A field manager that has applied these fields of the spec, server-side. */
function applied(manager: string, time: string, spec: object): object {
  return { manager, operation: 'Apply', time, fieldsV1: { 'f:spec': fieldsOf(spec) } };
}

function fieldsOf(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, within]) => [`f:${name}`, typeof within === 'object' ? fieldsOf(within) : {}]),
  );
}

const liveOf = (...managedFields: readonly object[]) =>
  ({ metadata: { name: 'orders', managedFields } }) as unknown as AnyObject;

const WHOLE = { ...CLUSTER_SPEC, backup: { frequency: 'daily', retentionDays: 7 } };
const PROTECTION = { deletionProtection: true };
const FLUX = applied('flux', '2026-11-20T10:00:00Z', WHOLE);

it.each([
  [
    'the whole spec was applied before a part of it was',
    WHOLE,
    [FLUX, applied('policy', '2026-11-21T10:00:00Z', PROTECTION)],
    'flux',
  ],
  [
    'what is left out is not in the part either',
    CLUSTER_SPEC,
    [FLUX, applied('policy', '2026-11-21T10:00:00Z', PROTECTION)],
    'flux',
  ],
  ['the file is the part', PROTECTION, [applied('policy', '2026-11-19T10:00:00Z', PROTECTION), FLUX], 'policy'],
  [
    'the part is owned by both',
    { state: 'Running' },
    [
      applied('nights', '2026-11-19T10:00:00Z', { state: 'Running' }),
      applied('flux', '2026-11-20T10:00:00Z', { ...WHOLE, state: 'Running' }),
    ],
    'nights',
  ],
  ['both have applied all of it, the last', WHOLE, [FLUX, applied('argocd', '2026-11-21T10:00:00Z', WHOLE)], 'argocd'],
  [
    'the last has applied somewhat more, the last',
    CLUSTER_SPEC,
    [applied('test', '2026-11-19T10:00:00Z', CLUSTER_SPEC), FLUX],
    'flux',
  ],
  [
    'nothing is said of the spec, the last',
    undefined,
    [FLUX, applied('argocd', '2026-11-21T10:00:00Z', WHOLE)],
    'argocd',
  ],
  [
    'nobody has applied it, nobody',
    WHOLE,
    [{ manager: 'kubectl-edit', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
    undefined,
  ],
])('applierOf() takes whoever has applied such a spec last: if %s', (_, spec, managers, manager) => {
  expect(applierOf(liveOf(...managers), { spec }).manager).toBe(manager);
});

describe('applierOf() of an object that Flux applies', () => {
  const flux = applied('kustomize-controller', '2026-11-20T10:00:00Z', CLUSTER_SPEC);
  const setBy = (manager: string, more: object = {}) => ({
    manager,
    operation: 'Update',
    time: '2026-11-21T10:00:00Z',
    fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:mooring.dev/paused': {} } }, 'f:spec': { 'f:state': {} } },
    ...more,
  });
  const manifest = {
    apiVersion: 'mooring.dev/v1alpha1',
    kind: 'DatabaseCluster',
    metadata: { name: 'orders', namespace: 'shop' },
    spec: { ...CLUSTER_SPEC },
  };

  it('knows that Flux undoes what kubectl has set', () => {
    const { manager, before } = applierOf(liveOf(flux, setBy('kubectl-patch')), manifest);
    expect(manager).toBeUndefined();
    expect(patchFor(manifest, before ?? {})).toEqual({
      metadata: { annotations: { 'mooring.dev/paused': null } },
      spec: { ...CLUSTER_SPEC, state: null },
    });
  });

  it.each([
    ['others have set', setBy('mooring-plugin'), {}],
    ['a manager has set whose name Flux leaves out', setBy('flux-client-side-apply'), {}],
    ['is in the status', setBy('kubectl-edit', { subresource: 'status' }), {}],
    ['kubectl has set, if it is to merge', setBy('kubectl-patch'), { 'kustomize.toolkit.fluxcd.io/ssa': 'Merge' }],
  ])('knows that Flux leaves what %s', (_, entry, annotations) => {
    const { metadata } = liveOf(flux, entry);
    const live = { metadata: { ...metadata, annotations } } as unknown as AnyObject;
    expect(applierOf(live, manifest).manager).toBe('kustomize-controller');
  });
});
