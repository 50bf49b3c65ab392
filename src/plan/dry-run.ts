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
  const told = new Map(own.map(({ field, text }) => [field, text]));
  try {
    return await allRefused(manifest, told, (rest) => asked(api, definition, rest, live, signal));
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (error.status !== 403 && error.status !== 404) throw error;
    if (own.length > 0) return { problems: own.map(({ text }) => text) };
    const { namespace, name } = manifest.metadata;
    const note = `${definition.kind} ${namespace}/${name} was not checked by the API server: ${error.message.trim()}`;
    const parsed = definition.spec.safeParse(spec);
    const metadata = { ...live?.metadata, ...manifest.metadata };
    return { object: { metadata, spec: parsed.success ? parsed.data : spec } as unknown as AnyObject, note };
  }
}

/**
 * What the server says to the manifest. It looks at rules only where every field is one that it knows, of the right type, and
 * names but the first that is not: so it is asked again without those, until it says nothing new.
 */
async function allRefused(
  manifest: Manifest,
  told: Map<string, string>,
  ask: (manifest: Manifest) => Promise<AnyObject>,
): Promise<DryRun> {
  let isRefused = false;
  for (let rest = manifest; ; ) {
    let wrong: ReturnType<typeof refusedFields> = [];
    try {
      const object = await ask(rest);
      return isRefused ? { problems: [...told.values()] } : { object };
    } catch (error) {
      if (error instanceof KubeError) wrong = refusedFields(error, manifest);
      if (wrong.length === 0 && !isRefused) throw error;
    }
    isRefused = true;
    for (const { field, text } of wrong) if (!told.has(field)) told.set(field, text);
    const next = wrong.reduce((left, { field, isRule }) => (isRule ? left : without(left, field)), rest);
    if (next === rest) return { problems: [...told.values()] };
    rest = next;
  }
}

/** The same manifest where there is no such field, or no object that it is a field of. */
function without(manifest: Manifest, field: string): Manifest {
  const steps = stepsOf(field);
  const parent = valueAt(manifest, steps.slice(0, -1).join('.'));
  const last = steps.at(-1) ?? '';
  if (!isRecord(parent) || !(last in parent)) return manifest;
  const copy = structuredClone(manifest);
  delete (valueAt(copy, steps.slice(0, -1).join('.')) as Record<string, unknown>)[last];
  return copy;
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

/** `isRule`: more than the name and type of the field was looked at. */
function refusedFields(
  error: KubeError,
  manifest: Manifest,
): readonly { readonly field: string; readonly text: string; readonly isRule?: true }[] {
  if (error.status === 403 || error.status === 404 || error.status === 401) return [];
  // Of a patch, that message holds the whole object before it comes to the point.
  const strict = error.fields.flatMap(({ message }) => [...message.matchAll(UNKNOWN)].map(([, field = '']) => field));
  if (strict.length > 0) return strict.map((field) => ({ field, text: unknownField(manifest, field) }));
  if (error.fields.length > 0)
    return error.fields.map(({ field, message }) => ({ field, text: `${field}: ${message}`, isRule: true }));
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
  return stepsOf(path).reduce<unknown>(
    (parent, step) => (parent as Record<string, unknown> | undefined)?.[step],
    manifest,
  );
}

function stepsOf(path: string): readonly string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '');
}

function specOf(object: AnyObject): unknown {
  return (object as { readonly spec?: unknown }).spec;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
