import { type AnyObject, KubeError } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import { type ResourceDefinition, specIssues } from '../kube/definition.ts';
import { LAST_APPLIED } from '../kube/object.ts';
import { isRecord } from '../plugin/inventory.ts';
import { resourceOf } from '../plugin/kinds.ts';
import type { Manifest } from './manifests.ts';

/* What the API server would make of a manifest, asked as kubectl would ask it. */

export type DryRun =
  | { readonly object: AnyObject; readonly note?: string }
  /** What is wrong with it, a field each. */
  | { readonly problems: readonly string[] };

/**
 * `live`: the object as it is, with its managed fields; undefined: there is none. Where the caller may not ask, or the
 * namespace is not there yet, the manifest over what is there, with a note.
 */
export async function dryRun(
  api: KubeClient,
  definition: ResourceDefinition,
  manifest: Manifest,
  live: AnyObject | undefined,
  signal: AbortSignal,
): Promise<DryRun> {
  const spec = { ...(live === undefined ? {} : recordOf(specOf(live))), ...recordOf(manifest.spec) };
  const own = specIssues(definition, spec).map(({ field, text }) => ({ field, text: `${field} ${text}` }));
  try {
    return { object: await asked(api, definition, manifest, live, signal) };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const wrong = refusedFields(error, manifest);
    if (wrong.length > 0) {
      const known = new Set(own.map(({ field }) => field));
      return { problems: [...own, ...wrong.filter(({ field }) => !known.has(field))].map(({ text }) => text) };
    }
    if (error.status !== 403 && error.status !== 404) throw error;
    if (own.length > 0) return { problems: own.map(({ text }) => text) };
    const { namespace, name } = manifest.metadata;
    const note = `${definition.kind} ${namespace}/${name} was not checked by the API server: ${error.message.trim()}`;
    const parsed = definition.spec.safeParse(spec);
    const metadata = { ...live?.metadata, ...manifest.metadata };
    return { object: { metadata, spec: parsed.success ? parsed.data : spec } as unknown as AnyObject, note };
  }
}

function asked(
  api: KubeClient,
  definition: ResourceDefinition,
  manifest: Manifest,
  live: AnyObject | undefined,
  signal: AbortSignal,
): Promise<AnyObject> {
  const resource = resourceOf(definition);
  const manager = live === undefined ? undefined : applierOf(live);
  const before = live === undefined || manager !== CLIENT_SIDE ? undefined : lastApplied(live);
  if (before === undefined)
    return api.applyDryRun(
      resource,
      manifest as unknown as AnyObject,
      manager === CLIENT_SIDE ? undefined : manager,
      signal,
    );
  const { namespace, name, ...metadata } = manifest.metadata;
  const patch = { metadata, spec: withRemoved(before, manifest.spec) };
  return api.patchDryRun(resource, { namespace, name }, patch, signal);
}

/** The spec that `kubectl apply` applied last; undefined: the object does not say. */
function lastApplied({ metadata }: AnyObject): unknown {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    return specOf(JSON.parse(text) as AnyObject) ?? {};
  } catch {
    return undefined;
  }
}

/** As kubectl calls itself where it makes a patch on its side. */
const CLIENT_SIDE = 'kubectl-client-side-apply';

/** Who applied the spec last, which is who is expected to do it again: what that one leaves out then is removed. */
function applierOf({ metadata }: AnyObject): string | undefined {
  const { managedFields = [] } = metadata as { readonly managedFields?: readonly unknown[] };
  const entries = managedFields
    .filter(isRecord)
    .filter(({ operation, manager, subresource }) => (operation === 'Apply' || manager === CLIENT_SIDE) && !subresource)
    .filter(({ fieldsV1 }) => isRecord(fieldsV1) && 'f:spec' in fieldsV1)
    .toSorted((one, other) => String(one['time']).localeCompare(String(other['time'])));
  const last = entries.at(-1);
  return last === undefined ? undefined : String(last['manager']);
}

/** A merge patch to what is wanted: null for what was there and is left out. */
function withRemoved(before: unknown, wanted: unknown): unknown {
  if (!isRecord(before) || !isRecord(wanted)) return wanted;
  const removed = Object.keys(before).filter((name) => !(name in wanted));
  return {
    ...Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, withRemoved(before[name], value)])),
    ...Object.fromEntries(removed.map((name) => [name, null])),
  };
}

/** `.spec.storageSizeGB: expected numeric (int or float), got string`: the type checker of server-side apply. */
const TYPED = /\.(spec\.[\w.[\]]+): ([^\n]*)/g;

/** `strict decoding error: unknown field "spec.nonsense"`: what a patch with fieldValidation=Strict is answered. */
const UNKNOWN = /unknown field "([\w.[\]]+)"/g;

function refusedFields(error: KubeError, manifest: Manifest) {
  if (error.status === 403 || error.status === 404 || error.status === 401) return [];
  // Of a patch, that message holds the whole object before it comes to the point.
  const strict = error.fields.flatMap(({ message }) => [...message.matchAll(UNKNOWN)].map(([, field = '']) => field));
  if (strict.length > 0) return strict.map((field) => ({ field, text: unknownField(manifest, field) }));
  if (error.fields.length > 0)
    return error.fields.map(({ field, message }) => ({ field, text: `${field}: ${message}` }));
  return [...error.message.matchAll(TYPED)].map(([, field = '', message = '']) => {
    const isUnknown = message.includes('not declared in schema');
    const text = `${field} cannot be ${JSON.stringify(valueAt(manifest, field))}: ${message}`;
    return { field, text: isUnknown ? unknownField(manifest, field) : text };
  });
}

function unknownField(manifest: Manifest, field: string): string {
  const value = JSON.stringify(valueAt(manifest, field));
  return `${field} cannot be ${value}: there is no such field: correct its name, or remove it`;
}

function valueAt(manifest: Manifest, path: string): unknown {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.reduce<unknown>((parent, step) => (parent as Record<string, unknown> | undefined)?.[step], manifest);
}

function specOf(object: AnyObject): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
