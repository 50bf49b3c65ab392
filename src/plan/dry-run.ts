import { recordOf } from '../base/is-record.ts';
import { type AnyObject, isConflict, KubeError } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import { type FieldIssue, type ResourceDefinition, specIssues } from '../kube/definition.ts';
import { isNoNamespace } from '../plugin/inventory.ts';
import { resourceOf } from '../plugin/kinds.ts';
import { mergePatch } from '../sandbox/merge-patch.ts';
import { applierOf, asTaken, patchFor } from './applier.ts';
import type { Manifest } from './manifests.ts';
import { isWithin, meantField, mended, type Refused, refusedFields } from './refused.ts';

/* What the API server would make of a manifest, asked the way kubectl would ask. */

export type DryRun =
  | { readonly object: AnyObject; readonly note?: string }
  /** What is wrong with it, one entry per field. */
  | { readonly problems: readonly string[] };

/**
 * `live`: the object as it is, with its managed fields; undefined: there is none. `coming`: namespaces that the files make.
 * If the caller may not ask, or the namespace does not exist yet, returns the live object with the manifest over it, and a note.
 */
export async function dryRun(
  api: KubeClient,
  definition: ResourceDefinition,
  manifest: Manifest,
  live: AnyObject | undefined,
  coming: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<DryRun> {
  const spec = { ...recordOf(live?.spec), ...recordOf(asTaken(manifest, live).spec) };
  const conflicts: string[] = [];
  const own = specIssues(definition, spec).map((issue) => ({ ...issue, text: `${issue.field} ${issue.text}` }));
  try {
    const onConflict = (text: string) => conflicts.push(text);
    const ask = (rest: Manifest) => asked(api, definition, rest, live, onConflict, signal);
    const answer = await allRefused(definition, manifest, own, ask);
    const [note] = conflicts;
    return note === undefined || 'problems' in answer ? answer : { ...answer, note };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (REFUSALS.has(error.status)) return { problems: [...own.map(({ text }) => text), error.message.trim()] };
    if (error.status !== 403 && error.status !== 404) throw error;
    const { namespace = '', name } = manifest.metadata;
    const isNowhere =
      live === undefined &&
      !coming.has(namespace) &&
      (error.status === 404 || (await isNoNamespace(api, namespace, signal)));
    const problems = [...(isNowhere ? [noNamespace(namespace)] : []), ...own.map(({ text }) => text)];
    if (problems.length > 0) return { problems };
    const note = `${definition.kind} ${namespace}/${name} was not checked by the API server: ${error.message.trim()}`;
    const { metadata, spec: whole } = laidOver(manifest, live);
    const parsed = definition.spec.safeParse(whole);
    return { object: { metadata, spec: parsed.success ? parsed.data : whole } as unknown as AnyObject, note };
  }
}

/** Answers to the manifest itself, whatever they complain about. */
const REFUSALS: ReadonlySet<number> = new Set([400, 409, 422]);

/** What becomes of the object, without defaults and as far as its managed fields say who applied what. */
function laidOver(manifest: Manifest, live: AnyObject | undefined): Pick<Manifest, 'metadata' | 'spec'> {
  if (live === undefined) return asTaken(manifest, live);
  const { metadata, spec } = live;
  return mergePatch({ metadata, spec }, patchFor(manifest, applierOf(live, manifest).before ?? {})) as Manifest;
}

function noNamespace(namespace: string): string {
  return `namespace "${namespace}" does not exist: create it, add it to the files, or correct metadata.namespace or --namespace`;
}

/**
 * What the server says of the manifest, besides what our own schema says. The server checks rules only if every field is known and has
 * a permitted value, and it names only the first unknown field. So it is asked again with those put right, until it says nothing new.
 */
async function allRefused(
  definition: ResourceDefinition,
  manifest: Manifest,
  own: readonly FieldIssue[],
  ask: (manifest: Manifest) => Promise<AnyObject>,
): Promise<DryRun> {
  const told = new Map<string, readonly string[]>();
  for (const { field, text } of own) told.set(field, [...(told.get(field) ?? []), text]);
  const rules = own.filter(({ rule }) => rule !== undefined);
  const problems = () => [...told.values()].flat();
  let isRefused = false;
  for (let rest = manifest; ; ) {
    let wrong: readonly Refused[] = [];
    try {
      const object = await ask(rest);
      return isRefused ? { problems: problems() } : { object };
    } catch (error) {
      if (error instanceof KubeError) wrong = refusedFields(error, definition, rest);
      if (wrong.length === 0 && !isRefused) throw error;
    }
    const before = new Set(told.keys());
    // The server knows more rules on these fields than our own schema does.
    for (const { field } of rules) before.delete(field);
    for (const each of wrong) {
      if (rules.some(({ field, rule = '' }) => field === each.field && each.text.endsWith(rule))) continue;
      // The field that was meant had been reported as missing.
      if (each.meant !== undefined) told.delete(meantField(each));
      // Several rules may say something about one field.
      const beside = each.isRule && !before.has(each.field) ? told.get(each.field) : undefined;
      if (beside !== undefined) told.set(each.field, [...new Set([...beside, each.text])]);
      else if (!isSaid(told, each)) told.set(each.field, [each.text]);
    }
    const first = isRefused ? [] : own.filter(({ rule }) => rule === undefined);
    const next = [...first, ...wrong.filter(({ isRule }) => !isRule)].reduce<Manifest>(mended, rest);
    isRefused = true;
    if (next === rest) return { problems: problems() };
    rest = next;
  }
}

/** Reports whether what was said of the field, or of one within it, explains this. Fields never explain a rule on the whole spec. */
function isSaid(told: ReadonlyMap<string, unknown>, { field, text }: Refused): boolean {
  const isWhole = field === 'spec' && !text.includes('Required value');
  return told.has(field) || (!isWhole && [...told.keys()].some((each) => isWithin(each, field)));
}

/** `onConflict`: told if others have set what a server-side apply would set. It is asked by force then, as Flux and Argo CD do. */
async function asked(
  api: KubeClient,
  definition: ResourceDefinition,
  manifest: Manifest,
  live: AnyObject | undefined,
  onConflict: (text: string) => void,
  signal: AbortSignal,
): Promise<AnyObject> {
  const resource = resourceOf(definition);
  const { manager, before } = applierOf(live, manifest);
  const { namespace, name } = manifest.metadata;
  if (manager === undefined && before !== undefined)
    return api.patchDryRun(resource, { namespace, name }, patchFor(manifest, before), signal);
  const object = asTaken(manifest, live) as unknown as AnyObject;
  const apply = (force: boolean) => api.applyDryRun(resource, object, { manager, force }, signal);
  if (manager === undefined) return apply(true);
  try {
    return await apply(false);
  } catch (error) {
    if (!(error instanceof KubeError && isConflict(error))) throw error;
    const text = error.message
      .replace(/^.*?: (?=Apply failed)/, '')
      .trim()
      .replace(/(:?)\n- /g, (_, colon) => `${colon || ','} `);
    onConflict(
      `Applied server-side by "${manager}", ${definition.kind} ${namespace}/${name} is refused, unless conflicts are forced (--force-conflicts), which this plan assumes: ${text}`,
    );
    return apply(true);
  }
}
