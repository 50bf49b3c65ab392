import { type AnyObject, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { splitKey } from '../kube/object.ts';
import { unlessForbidden } from '../kube/unless-forbidden.ts';
import type { Document } from './manifests.ts';
import { clustersOf, databasesOf, type PlannedCluster, type PlannedObject, spacesOf, usersOf } from './objects.ts';

/* The labels of namespaces, which may decide what an object admits. */

type AllowedNamespaces = NonNullable<PlannedCluster['next']['allowedNamespaces']>;
type Selector = NonNullable<AllowedNamespaces['selector']>;
type Labels = Readonly<Record<string, string>>;

/** Reports whether objects of other namespaces may be on one of these, as they are. */
export function areShared(objects: readonly PlannedObject[]): boolean {
  return [...spacesOf(objects), ...clustersOf(objects)].some(
    ({ object, spec }) => object.live !== undefined && (spec.allowedNamespaces?.from ?? 'Same') !== 'Same',
  );
}

/**
 * The namespaces as the files make them, with the label that the API server gives to each. One that may not be read has labels that are
 * selected, unless its objects say that it is not admitted.
 */
export async function readNamespaces(
  api: KubeApi,
  { documents }: { readonly documents: readonly Document[] },
  objects: readonly PlannedObject[],
  notes: string[],
  signal: AbortSignal,
): Promise<readonly AnyObject[]> {
  const found: AnyObject[] = [];
  const selectors = selectorsOf(objects);
  for (const name of new Set(objects.map(({ key }) => splitKey(key).namespace))) {
    const written = documents.findLast(
      ({ manifest: { kind, metadata } }) => kind === NAMESPACES.kind && metadata.name === name,
    );
    const answer = await unlessForbidden(api.get(NAMESPACES, { name }, signal));
    const isUnread = answer instanceof KubeError;
    if (isUnread ? selectors.length === 0 : answer === undefined && written === undefined) continue;
    const isRefused = objects.some((object) => splitKey(object.key).namespace === name && isNotAdmitted(object));
    if (isUnread) notes.push(`You may not read namespace ${name} (get namespaces): ${isRefused ? UNKNOWN : ASSUMED}`);
    const { metadata }: AnyObject = isUnread || answer === undefined ? nowhere(name) : answer;
    const assumed = isUnread && !isRefused ? labelsFor(selectors) : {};
    const labels = { ...assumed, [NAME_LABEL]: name, ...metadata.labels, ...written?.manifest.metadata.labels };
    found.push({ metadata: { ...metadata, labels } });
  }
  return found;
}

const UNKNOWN = 'it is not known whether a selector admits it';
const ASSUMED = 'this plan assumes that selectors admit it';

function nowhere(name: string): AnyObject {
  return { metadata: { name, uid: '', resourceVersion: '' } };
}

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** The selectors of objects, as they are and as they should become. */
function selectorsOf(objects: readonly PlannedObject[]): readonly Selector[] {
  return [...spacesOf(objects), ...clustersOf(objects)]
    .flatMap(({ spec, next }) => [spec.allowedNamespaces, next.allowedNamespaces])
    .flatMap((allowed) => (allowed?.from === 'Selector' ? [allowed.selector ?? {}] : []));
}

/** Labels that all of these select, unless they contradict each other. */
function labelsFor(selectors: readonly Selector[]): Labels {
  const labels: Record<string, string> = {};
  for (const { matchLabels } of selectors) Object.assign(labels, matchLabels);
  for (const { key, operator, values = [] } of selectors.flatMap(({ matchExpressions = [] }) => matchExpressions))
    if (operator === 'In' || operator === 'Exists') labels[key] ??= values[0] ?? '';
  return labels;
}

function isNotAdmitted(object: PlannedObject): boolean {
  const records = [...clustersOf([object]), ...usersOf([object]), ...databasesOf([object])];
  return records.some(({ status }) => NOT_ADMITTED.has(findStatusCondition(status.conditions, 'Ready')?.reason ?? ''));
}

const NOT_ADMITTED: ReadonlySet<string> = new Set(['ClusterNotAllowed', 'SpaceNotAllowed']);
