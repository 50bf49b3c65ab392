import { describe, expect, it } from 'vitest';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseUserDefinition } from '../kinds/databaseuser/schema.ts';
import { TEMPLATE_RULES } from '../kinds/databaseuser/secret/template.ts';
import { type AnyObject, KubeError } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import { dryRun } from './dry-run.ts';

const manifestOf = (spec: object) => ({
  apiVersion: 'mooring.dev/v1alpha1',
  kind: 'DatabaseCluster',
  metadata: { name: 'orders', namespace: 'shop' },
  spec,
});
const liveOf = (metadata: object) =>
  ({ metadata: { name: 'orders', namespace: 'shop', ...metadata }, spec: CLUSTER_SPEC }) as unknown as AnyObject;

/** An API server that answers with the error, or with what it was sent; and what that was. */
function aServer(error?: KubeError) {
  const sent: unknown[] = [];
  const answer = async (...what: readonly unknown[]) => {
    sent.push(what);
    if (error !== undefined) throw error;
    return liveOf({});
  };
  const api: Pick<KubeClient, 'applyDryRun' | 'patchDryRun'> = {
    applyDryRun: (_resource, object, { manager }) => answer('apply', (object as { spec?: unknown }).spec, manager),
    patchDryRun: (_resource, _ref, patch) => answer('patch', patch),
  };
  return { api: api as KubeClient, sent };
}

const { signal } = new AbortController();
const run = (api: KubeClient, spec: object, live?: AnyObject) =>
  dryRun(api, databaseClusterDefinition, manifestOf(spec), live, new Set(), signal);

describe('dryRun()', () => {
  it('removes what is left out if kubectl applies client-side', async () => {
    const { api, sent } = aServer();
    const last = JSON.stringify(
      manifestOf({ ...CLUSTER_SPEC, deletionProtection: true, backup: { frequency: 'daily', retentionDays: 3 } }),
    );
    const managedFields = [
      { manager: 'argocd-controller', operation: 'Apply', time: '2026-11-20T10:00:00Z', fieldsV1: { 'f:spec': {} } },
      {
        manager: 'kubectl-client-side-apply',
        operation: 'Update',
        time: '2026-11-21T10:00:00Z',
        fieldsV1: { 'f:spec': {} },
      },
    ];
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last };
    await run(api, { ...CLUSTER_SPEC, backup: { frequency: 'weekly' } }, liveOf({ annotations, managedFields }));
    const spec = { ...CLUSTER_SPEC, deletionProtection: null, backup: { frequency: 'weekly', retentionDays: null } };
    expect(sent).toEqual([['patch', { metadata: {}, spec }]]);
  });

  it('removes what is left out if another tool applies client-side, as Argo CD does by default', async () => {
    const { api, sent } = aServer();
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const last = JSON.stringify(manifestOf({ ...CLUSTER_SPEC, deletionProtection: true }));
    const managedFields = [
      {
        manager: 'argocd-controller',
        operation: 'Update',
        time: '2026-11-20T10:00:00Z',
        fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${annotation}`]: {} } }, 'f:spec': {} },
      },
      // What somebody else has set since then stays.
      { manager: 'kubectl-edit', operation: 'Update', time: '2026-11-21T10:00:00Z', fieldsV1: { 'f:spec': {} } },
    ];
    await run(api, CLUSTER_SPEC, liveOf({ annotations: { [annotation]: last }, managedFields }));
    expect(sent).toEqual([['patch', { metadata: {}, spec: { ...CLUSTER_SPEC, deletionProtection: null } }]]);
  });

  it('removes what is left out if Helm applies client-side, as Helm 3 does', async () => {
    const { api, sent } = aServer();
    const managedFields = [
      {
        manager: 'helm',
        operation: 'Update',
        fieldsV1: {
          'f:metadata': { 'f:annotations': { 'f:meta.helm.sh/release-name': {} } },
          'f:spec': {
            '.': {},
            'f:deletionProtection': {},
            'f:region': {},
            'f:backup': { '.': {}, 'f:frequency': {}, 'f:retentionDays': {} },
          },
        },
      },
      { manager: 'kubectl-edit', operation: 'Update', fieldsV1: { 'f:spec': { 'f:state': {} } } },
    ];
    await run(api, { ...CLUSTER_SPEC, backup: { frequency: 'weekly' } }, liveOf({ managedFields }));
    const spec = { ...CLUSTER_SPEC, deletionProtection: null, backup: { frequency: 'weekly', retentionDays: null } };
    expect(sent).toEqual([['patch', { metadata: {}, spec }]]);
  });

  it('asks as kubectl does, which removes a spec that is left out', async () => {
    const { api, sent } = aServer();
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(manifestOf(CLUSTER_SPEC)),
    };
    const managedFields = [{ manager: 'kubectl-client-side-apply', operation: 'Update', fieldsV1: { 'f:spec': {} } }];
    const { spec: _, ...without } = manifestOf({});
    const live = liveOf({ annotations, managedFields });
    await dryRun(api, databaseClusterDefinition, without, live, new Set(), signal);
    expect(sent).toEqual([['patch', { metadata: {}, spec: null }]]);
  });

  describe('of an object that was applied server-side', () => {
    const live = liveOf({ managedFields: [{ manager: 'kubectl', operation: 'Apply', fieldsV1: { 'f:spec': {} } }] });
    const CONFLICT =
      'Cannot apply databaseclusters: Apply failed with 2 conflicts: conflicts with "kubectl-edit" using mooring.dev/v1alpha1:\n- .spec.state\n- .spec.region\n';

    /** An API server where somebody else has set fields. `refused`: what it says even to a forced apply. */
    function aContested(refused?: KubeError) {
      const { api, sent } = aServer(refused);
      const applyDryRun: KubeClient['applyDryRun'] = (resource, object, apply) => {
        if (!apply.force) throw new KubeError(CONFLICT, { status: 409, reason: 'Conflict' });
        return api.applyDryRun(resource, object, apply);
      };
      return { api: { ...api, applyDryRun }, sent };
    }

    it('notes that others have set fields, which only a forced apply takes over', async () => {
      const { api, sent } = aContested();
      expect(await run(api, CLUSTER_SPEC, live)).toMatchObject({
        object: {},
        note: 'Applied server-side by "kubectl", DatabaseCluster shop/orders is refused, unless conflicts are forced (--force-conflicts), which this plan assumes: Apply failed with 2 conflicts: conflicts with "kubectl-edit" using mooring.dev/v1alpha1: .spec.state, .spec.region',
      });
      expect(sent).toEqual([['apply', CLUSTER_SPEC, 'kubectl']]);
    });

    it('says what is wrong with the manifest itself all the same', async () => {
      const { api } = aContested(new KubeError('the object has been modified', { status: 409, reason: 'Conflict' }));
      expect(await run(api, CLUSTER_SPEC, live)).toEqual({ problems: ['the object has been modified'] });
    });

    it('asks once if there is no conflict', async () => {
      const { api, sent } = aServer();
      expect(await run(api, CLUSTER_SPEC, live)).not.toHaveProperty('note');
      expect(sent).toHaveLength(1);
    });
  });

  it('takes null for absent, as templates may leave it, unless it is applied server-side: then the server refuses it', async () => {
    const spec = { ...CLUSTER_SPEC, backup: null, adminCredentials: { secretName: 'login', rotateEvery: null } };
    const { api, sent } = aServer();
    await run(api, spec);
    const managedFields = [{ manager: 'kubectl-client-side-apply', operation: 'Update', fieldsV1: { 'f:spec': {} } }];
    const last = JSON.stringify(manifestOf(CLUSTER_SPEC));
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last };
    await run(api, spec, liveOf({ annotations, managedFields }));
    await run(
      api,
      spec,
      liveOf({ managedFields: [{ manager: 'flux', operation: 'Apply', fieldsV1: { 'f:spec': {} } }] }),
    );
    expect(sent).toEqual([
      ['apply', { ...CLUSTER_SPEC, adminCredentials: { secretName: 'login' } }, undefined],
      // In a patch, null removes what others have set.
      ['patch', { metadata: {}, spec }],
      ['apply', spec, 'flux'],
    ]);
    const forbidden = aServer(new KubeError('forbidden', { status: 403 }));
    expect(await run(forbidden.api, spec)).toMatchObject({ note: expect.stringContaining('was not checked') });
  });

  it('checks the rest if a field of the metadata is misspelt', async () => {
    const applyDryRun: KubeClient['applyDryRun'] = async (_resource, object) => {
      if ('label' in object.metadata)
        throw new KubeError('failed to create typed patch object (…): .metadata.label: field not declared in schema', {
          status: 500,
        });
      expect(object.metadata).toMatchObject({ labels: { team: 'shop' } });
      throw new KubeError('invalid', { status: 422, fields: [{ field: 'spec.region', message: 'is not listed' }] });
    };
    const { metadata, ...manifest } = manifestOf(CLUSTER_SPEC);
    const misspelt = { ...manifest, metadata: { ...metadata, label: { team: 'shop' } } };
    expect(
      await dryRun({ applyDryRun } as KubeClient, databaseClusterDefinition, misspelt, undefined, new Set(), signal),
    ).toEqual({
      problems: [
        'metadata.label cannot be {"team":"shop"}: there is no such field: did you mean labels?',
        'spec.region: is not listed',
      ],
    });
  });

  it('reports any other refusal of the manifest as its problem', async () => {
    const { api } = aServer(new KubeError('metadata.managedFields must be nil', { status: 400 }));
    expect(await run(api, { ...CLUSTER_SPEC, state: 'Asleep' })).toEqual({
      problems: [expect.stringMatching(/^spec\.state cannot be "Asleep"/), 'metadata.managedFields must be nil'],
    });
    const message =
      'Invalid value: "{\\"kind\\":\\"DatabaseCluster\\"}": json: cannot unmarshal string into Go struct field ObjectMeta.finalizers';
    const unread = aServer(new KubeError('invalid', { status: 422, fields: [{ field: 'patch', message }] }));
    expect(await run(unread.api, CLUSTER_SPEC)).toEqual({
      problems: ['json: cannot unmarshal string into Go struct field ObjectMeta.finalizers'],
    });
    await expect(run(aServer(new KubeError('it fails', { status: 500 })).api, CLUSTER_SPEC)).rejects.toThrow(
      'it fails',
    );
  });

  it('removes annotations and labels that are left out if kubectl applies client-side, and none of others', async () => {
    const { api, sent } = aServer();
    const manifest = manifestOf(CLUSTER_SPEC);
    const applied = {
      ...manifest.metadata,
      labels: { team: 'shop' },
      annotations: { 'mooring.dev/paused': 'true', a: 'b' },
    };
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ ...manifest, metadata: applied }),
      others: 'stay',
    };
    const managedFields = [
      {
        manager: 'kubectl-client-side-apply',
        operation: 'Update',
        time: '2026-11-21T10:00:00Z',
        fieldsV1: { 'f:spec': {} },
      },
    ];
    const wanted = { ...manifest, metadata: { ...manifest.metadata, annotations: { a: 'c' } } };
    const live = liveOf({ annotations, managedFields });
    await dryRun(api, databaseClusterDefinition, wanted, live, new Set(), signal);
    const metadata = { labels: { team: null }, annotations: { a: 'c', 'mooring.dev/paused': null } };
    expect(sent).toEqual([['patch', { metadata, spec: CLUSTER_SPEC }]]);
  });

  it('applies with the field manager of an earlier server-side apply', async () => {
    const { api, sent } = aServer();
    const managedFields = [
      { manager: 'mooring', operation: 'Update', fieldsV1: { 'f:spec': {} } },
      { manager: 'argocd-controller', operation: 'Apply', fieldsV1: { 'f:spec': {} } },
    ];
    await run(api, CLUSTER_SPEC, liveOf({ managedFields }));
    await run(api, CLUSTER_SPEC);
    expect(sent).toEqual([
      ['apply', CLUSTER_SPEC, 'argocd-controller'],
      ['apply', CLUSTER_SPEC, undefined],
    ]);
  });

  it('reports all fields that are wrong, even if the server names only the first', async () => {
    const error = new KubeError(
      'failed to create typed patch object (…): .spec.nonsense: field not declared in schema',
      {
        status: 500,
      },
    );
    const { api } = aServer(error);
    expect(await run(api, { ...CLUSTER_SPEC, nonsense: 3, storageSizeGB: '100', state: 'Asleep' })).toEqual({
      problems: [
        expect.stringMatching(/^spec\.storageSizeGB cannot be "100": /),
        expect.stringMatching(/^spec\.state cannot be "Asleep": /),
        'spec.nonsense cannot be 3: there is no such field: correct its name, or remove it',
      ],
    });
  });

  it('reports each unknown field, without the object that the server puts before it', async () => {
    const message =
      'Invalid value: "{\\"spec\\":{}}": strict decoding error: unknown field "spec.one", unknown field "spec.backup.two"';
    const { api } = aServer(new KubeError('invalid', { status: 422, fields: [{ field: 'patch', message }] }));
    const backup = { frequency: 'daily', retentionDays: 7, two: true };
    expect(await run(api, { ...CLUSTER_SPEC, one: 1, backup })).toEqual({
      problems: [
        'spec.one cannot be 1: there is no such field: correct its name, or remove it',
        'spec.backup.two cannot be true: there is no such field: correct its name, or remove it',
      ],
    });
  });

  it('asks again without the unknown fields, to report all of them and what the rules say', async () => {
    const asked: unknown[] = [];
    const applyDryRun: KubeClient['applyDryRun'] = async (_resource, object) => {
      const { spec } = object as unknown as { readonly spec: Readonly<Record<string, unknown>> };
      asked.push(Object.keys(spec));
      const unknown = ['foo', 'storageSizeGb'].find((name) => name in spec);
      if (unknown !== undefined)
        throw new KubeError(`failed to create typed patch object (…): .spec.${unknown}: field not declared in schema`, {
          status: 500,
        });
      const message = 'Required value: region is needed to deploy a cluster: set it';
      throw new KubeError('invalid', { status: 422, fields: [{ field: 'spec.region', message }] });
    };
    const { storageSizeGB: _, region: __, ...spec } = CLUSTER_SPEC;
    expect(await run({ applyDryRun } as KubeClient, { ...spec, storageSizeGb: 100, foo: 1 })).toEqual({
      problems: [
        'spec.foo cannot be 1: there is no such field: correct its name, or remove it',
        'spec.storageSizeGb cannot be 100: there is no such field: did you mean storageSizeGB?',
        'spec.region: Required value: region is needed to deploy a cluster: set it',
      ],
    });
    // What is probably meant is checked as well.
    expect(asked).toEqual([expect.anything(), expect.anything(), expect.arrayContaining(['storageSizeGB'])]);
  });

  it('has the rules checked if a value or a missing required field keeps the server from it', async () => {
    const asked: object[] = [];
    const applyDryRun: KubeClient['applyDryRun'] = async (_resource, object) => {
      const { spec } = object as unknown as { readonly spec?: Readonly<Record<string, unknown>> };
      asked.push(spec ?? {});
      const fields = !spec
        ? [{ field: 'spec', message: 'Required value' }]
        : 'state' in spec
          ? [{ field: 'spec.state', message: 'Unsupported value: "suspended"' }]
          : [
              { field: 'spec.adoptionPolicy', message: 'cannot be MustExist with that' },
              { field: 'spec.provider', message: 'Invalid value: "gpc": provider is not listed' },
              { field: 'spec', message: 'Invalid value: one rule of all' },
            ];
      throw new KubeError('invalid', { status: 422, fields });
    };
    const api = { applyDryRun } as KubeClient;
    expect(
      await run(api, { ...CLUSTER_SPEC, provider: 'gpc', state: 'suspended', adoptionPolicy: 'mustExist' }),
    ).toEqual({
      problems: [
        expect.stringMatching(/^spec\.state cannot be "suspended": /),
        expect.stringMatching(/^spec\.adoptionPolicy cannot be "mustExist": /),
        'spec.provider: Invalid value: "gpc": provider is not listed',
        'spec: Invalid value: one rule of all',
      ],
    });
    // That asks nothing about the rest.
    expect(asked.at(-1)).toMatchObject({ adoptionPolicy: 'MustExist' });
    const { spec: _, ...without } = manifestOf({});
    expect(await dryRun(api, databaseClusterDefinition, without, undefined, new Set(), signal)).toEqual({
      problems: [
        'spec.spaceRef is missing: set it',
        'spec.adoptionPolicy: cannot be MustExist with that',
        'spec.provider: Invalid value: "gpc": provider is not listed',
        'spec: Invalid value: one rule of all',
      ],
    });
  });

  it('reports everything that the rules say of one field', async () => {
    const fields = [
      { field: 'spec.region', message: "Invalid value: region 'mars-1' is not listed" },
      { field: 'spec.region', message: 'Forbidden: region cannot change' },
    ];
    const { api } = aServer(new KubeError('invalid', { status: 422, fields }));
    expect(await run(api, { ...CLUSTER_SPEC, region: 'mars-1' }, liveOf({}))).toEqual({
      problems: fields.map(({ field, message }) => `${field}: ${message}`),
    });
  });

  it('reports everything that is wrong with one field, once, whether it or the server knows the rule', async () => {
    const template = { password: 'x', 'bad key': 'y', DSN: '{{ nope }}' };
    const [key, fixed, placeholder] = TEMPLATE_RULES.map(({ message }) => message);
    const field = 'spec.connectionSecret.template';
    const asked: object[] = [];
    const applyDryRun: KubeClient['applyDryRun'] = async (_resource, object) => {
      const { spec } = object as unknown as { readonly spec: object };
      asked.push(spec);
      if ('nonsense' in spec)
        throw new KubeError('failed to create typed patch object (…): .spec.nonsense: field not declared in schema', {
          status: 500,
        });
      const fields = [key, fixed, placeholder].map((message) => ({ field, message: `Invalid value: ${message}` }));
      throw new KubeError('invalid', { status: 422, fields });
    };
    const manifest = {
      ...manifestOf({ clusterRef: { name: 'orders' }, connectionSecret: { template }, nonsense: 1 }),
      kind: 'DatabaseUser',
    };
    const api = { applyDryRun } as KubeClient;
    const answer = await dryRun(api, databaseUserDefinition, manifest, undefined, new Set(), signal);
    const value = JSON.stringify(template);
    expect(answer).toEqual({
      problems: [
        `${field} cannot be ${value}: ${key}`,
        `${field} cannot be ${value}: ${fixed}`,
        `${field}: Invalid value: ${placeholder}`,
        'spec.nonsense cannot be 1: there is no such field: correct its name, or remove it',
      ],
    });
    expect(asked).toHaveLength(2);
  });

  it('reports once what is misspelt and required', async () => {
    const message = 'failed to create typed patch object (…): .spec.spaceref: field not declared in schema';
    const { api } = aServer(new KubeError(message, { status: 500 }));
    const { spaceRef, ...spec } = CLUSTER_SPEC;
    expect(await run(api, { ...spec, spaceref: spaceRef })).toEqual({
      problems: ['spec.spaceref cannot be {"name":"production"}: there is no such field: did you mean spaceRef?'],
    });
  });

  it('treats a namespace that does not exist as a mistake, unless the files create it', async () => {
    const { api } = aServer(new KubeError('namespaces "shop" not found', { status: 404 }));
    const asked = (coming: readonly string[], spec: object = CLUSTER_SPEC) =>
      dryRun(api, databaseClusterDefinition, manifestOf(spec), undefined, new Set(coming), signal);
    const mistake =
      'namespace "shop" does not exist: create it, add it to the files, or correct metadata.namespace or --namespace';
    expect(await asked([])).toEqual({ problems: [mistake] });
    expect(await asked([], { ...CLUSTER_SPEC, state: 'Asleep' })).toEqual({
      problems: [mistake, expect.stringMatching(/^spec\.state cannot be "Asleep"/)],
    });
    expect(await asked(['shop'])).toMatchObject({ note: expect.stringContaining('was not checked by the API server') });
  });

  it('reports each field that the server refuses', async () => {
    const fields = [
      { field: 'spec.region', message: 'Forbidden: region cannot change' },
      { field: 'spec.provider', message: 'Forbidden: provider cannot change' },
    ];
    const { api } = aServer(new KubeError('invalid', { status: 422, fields }));
    expect(await run(api, CLUSTER_SPEC)).toEqual({
      problems: ['spec.region: Forbidden: region cannot change', 'spec.provider: Forbidden: provider cannot change'],
    });
  });

  it('lays the manifest over the existing object if no server may be asked, and checks what it can', async () => {
    const { api } = aServer(new KubeError('cannot patch', { status: 403 }));
    const taken = await run(api, { storageSizeGB: 200 }, liveOf({}));
    expect(taken).toMatchObject({
      object: { spec: { ...CLUSTER_SPEC, storageSizeGB: 200 } },
      note: expect.stringContaining('was not checked by the API server: cannot patch'),
    });
    expect(await run(api, { ...CLUSTER_SPEC, storageSizeGB: -1 })).toMatchObject({
      problems: [expect.stringContaining('spec.storageSizeGB cannot be -1')],
    });
  });

  it('removes what is left out even if no server may be asked, as far as the object says who applied it', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const before = { ...CLUSTER_SPEC, deletionProtection: true };
    const paused = { 'mooring.dev/paused': 'true', others: 'stay' };
    const applied = { ...manifestOf(before), metadata: { annotations: { 'mooring.dev/paused': 'true' } } };
    const clientSide = liveOf({
      annotations: { ...paused, [annotation]: JSON.stringify(applied) },
      managedFields: [{ manager: 'kubectl-client-side-apply', operation: 'Update', fieldsV1: { 'f:spec': {} } }],
    });
    const fieldsV1 = {
      'f:metadata': { 'f:annotations': { 'f:mooring.dev/paused': {} } },
      'f:spec': { 'f:deletionProtection': {} },
    };
    const serverSide = liveOf({
      annotations: paused,
      managedFields: [{ manager: 'flux', operation: 'Apply', fieldsV1 }],
    });
    for (const live of [clientSide, serverSide]) {
      const { api } = aServer(new KubeError('cannot patch', { status: 403 }));
      const taken = await run(api, CLUSTER_SPEC, { ...live, spec: before } as unknown as AnyObject);
      expect(taken).toMatchObject({ object: { spec: CLUSTER_SPEC, metadata: { annotations: { others: 'stay' } } } });
      expect(taken).not.toMatchObject({ object: { spec: { deletionProtection: true } } });
      expect(taken).not.toMatchObject({ object: { metadata: { annotations: { 'mooring.dev/paused': 'true' } } } });
    }
  });

  it('leaves the annotations of others if no server may be asked', async () => {
    const { api } = aServer(new KubeError('cannot patch', { status: 403 }));
    const manifest = manifestOf(CLUSTER_SPEC);
    const named = { ...manifest, metadata: { ...manifest.metadata, annotations: { team: 'shop' } } };
    const paused = liveOf({ annotations: { 'mooring.dev/paused': 'true' } });
    expect(await dryRun(api, databaseClusterDefinition, named, paused, new Set(), signal)).toMatchObject({
      object: { metadata: { annotations: { 'mooring.dev/paused': 'true', team: 'shop' } } },
    });
  });
});
