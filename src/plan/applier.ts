import { isRecord, recordOf } from '../base/is-record.ts';
import type { AnyObject } from '../kube/api.ts';
import { LAST_APPLIED } from '../kube/object.ts';
import { mergePatch } from '../sandbox/merge-patch.ts';
import type { Manifest } from './manifests.ts';

/* Who applied an object, as far as its managed fields say, and a patch that applies a manifest as they would. */

/** A merge patch that makes of the object what applying the manifest would. */
export function patchFor({ apiVersion: _, kind: __, spec, ...others }: Manifest, before: Applied): object {
  const { namespace: ___, name: ____, ...metadata } = others.metadata;
  const named = (part: 'labels' | 'annotations') => {
    const changed = recordOf(withRemoved(before.metadata?.[part] ?? {}, metadata[part] ?? {}));
    return Object.keys(changed).length === 0 ? {} : { [part]: changed };
  };
  return {
    ...others,
    metadata: { ...metadata, ...named('labels'), ...named('annotations') },
    spec: spec === undefined ? null : withRemoved(before.spec, spec),
  };
}

/** What was applied, as far as it is known. Values do not matter. */
interface Applied {
  readonly metadata?: { readonly labels?: unknown; readonly annotations?: unknown };
  readonly spec?: unknown;
}

interface Applier {
  /** The field manager of a server-side apply; undefined: it was client-side. */
  readonly manager?: string;
  readonly before?: Applied | undefined;
}

const NOBODY: Applier = {};

/** The field manager that kubectl uses for client-side patches. */
const CLIENT_SIDE = 'kubectl-client-side-apply';

/** The annotation that Helm writes, whichever way it applies. */
const HELM_RELEASE = 'meta.helm.sh/release-name';

/**
 * Who applied such a spec last. They are expected to apply it again, so what they leave out is removed. Somebody else may have applied a
 * field or two since.
 */
export function applierOf(live: AnyObject | undefined, { spec }: Pick<Manifest, 'spec'>): Applier {
  if (live === undefined) return NOBODY;
  const { managedFields = [] } = live.metadata as { readonly managedFields?: readonly unknown[] };
  const appliers = managedFields
    .filter(isRecord)
    .filter(({ fieldsV1, subresource }) => !subresource && isRecord(fieldsV1) && 'f:spec' in fieldsV1)
    .toSorted((one, other) => String(one['time']).localeCompare(String(other['time'])))
    .flatMap((entry) => applierIn(entry, live) ?? []);
  const wanted = new Set(leavesOf(spec));
  const likeness = appliers.map(({ before }) => likenessOf(wanted, new Set(leavesOf(before?.spec))));
  const enough = Math.max(...likeness) / 2;
  const last = appliers.findLast((_, index) => (likeness[index] ?? 0) >= enough) ?? NOBODY;
  return last.manager === FLUX ? asFluxApplies(last, live) : last;
}

const FLUX = 'kustomize-controller';
/** With `Merge` Flux leaves what others have added. */
const FLUX_POLICY = 'kustomize.toolkit.fluxcd.io/ssa';

/** Flux makes its own what managers whose name begins with kubectl have set, and so removes what is not in the manifest. */
function asFluxApplies(flux: Applier, live: AnyObject): Applier {
  const { managedFields = [] } = live.metadata as { readonly managedFields?: readonly unknown[] };
  const ofKubectl = managedFields
    .filter(isRecord)
    .filter(({ manager, subresource }) => String(manager).startsWith('kubectl') && !subresource);
  const keepsAll = live.metadata.annotations?.[FLUX_POLICY]?.toLowerCase() === 'merge';
  if (ofKubectl.length === 0 || keepsAll) return flux;
  const owned = ofKubectl.map(({ fieldsV1 }) => {
    const { spec = {}, metadata } = ownedIn(fieldsV1);
    const { labels = {}, annotations = {} } = recordOf(metadata);
    return { metadata: { labels, annotations }, spec };
  });
  return { before: owned.reduce<unknown>(mergePatch, flux.before) as Applied };
}

/** The share of common elements, from 0 to 1. */
function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter((each) => other.has(each)).length;
  return common / Math.max(one.size + other.size - common, 1);
}

/** The paths of all fields that have no fields themselves. */
function leavesOf(value: unknown, path = ''): readonly string[] {
  const fields = Object.entries(recordOf(value));
  if (fields.length === 0) return path === '' ? [] : [path];
  return fields.flatMap(([name, within]) => leavesOf(within, `${path}.${name}`));
}

/** Undefined: this manager does not apply manifests. */
function applierIn(
  { operation, manager, fieldsV1 }: Readonly<Record<string, unknown>>,
  live: AnyObject,
): Applier | undefined {
  const fields = recordOf(fieldsV1);
  const spec = ownedIn(fields['f:spec']);
  const { labels, annotations } = ownedIn(fields['f:metadata']);
  if (operation === 'Apply') return { manager: String(manager), before: { metadata: { labels, annotations }, spec } };
  // Others than kubectl, such as Argo CD, apply client-side under a name of their own, and write the same annotation.
  const isNoted = (annotation: string) => annotation in recordOf(annotations);
  if (manager === CLIENT_SIDE || isNoted(LAST_APPLIED)) return { before: lastApplied(live.metadata) };
  // Helm 3 keeps elsewhere what it applied: all that it set is here, with defaults, which removing restores.
  return isNoted(HELM_RELEASE) ? { before: { spec } } : undefined;
}

/** What `kubectl apply` last applied, by the annotation that it writes; undefined: the object does not say. */
export function lastApplied({
  annotations,
}: {
  readonly annotations?: Readonly<Record<string, string>>;
}): Readonly<Record<string, unknown>> | undefined {
  const text = annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    return { spec: {}, ...recordOf(JSON.parse(text)) };
  } catch {
    return undefined;
  }
}

/** Turns `{"f:backup":{"f:frequency":{}}}` into an object with the same fields, without their values. */
function ownedIn(fields: unknown): Readonly<Record<string, unknown>> {
  const named = Object.entries(recordOf(fields)).filter(([name]) => name.startsWith('f:'));
  return Object.fromEntries(named.map(([name, within]) => [name.slice(2), ownedIn(within)]));
}

/** A merge patch to what is wanted, with null for what is left out. */
function withRemoved(before: unknown, wanted: unknown): unknown {
  if (!isRecord(before) || !isRecord(wanted)) return wanted;
  const removed = Object.keys(before).filter((name) => !(name in wanted));
  return {
    ...Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, withRemoved(before[name], value)])),
    ...Object.fromEntries(removed.map((name) => [name, null])),
  };
}

/** The manifest as the API server takes it. Unless it is applied server-side, a field of the spec that is null is absent. */
export function asTaken(manifest: Manifest, live: AnyObject | undefined): Manifest {
  const isAsItIs = manifest.spec === undefined || applierOf(live, manifest).manager !== undefined;
  return isAsItIs ? manifest : { ...manifest, spec: filled(manifest.spec) };
}

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (!isRecord(value)) return value;
  const set = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(set.map(([name, each]) => [name, filled(each)]));
}
