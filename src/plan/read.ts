import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import { type AnyObject, CONFIG_MAPS, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import { listAllPages } from '../kube/list.ts';
import { type ObjectKey, splitKey, withoutManagedFields } from '../kube/object.ts';
import { unlessForbidden } from '../kube/unless-forbidden.ts';
import { itemOf } from '../plugin/item.ts';
import { definitionOf, resourceOf } from '../plugin/kinds.ts';
import { type NodeName, nodeName, splitNode } from '../plugin/node-name.ts';
import { dryRun } from './dry-run.ts';
import { type Document, keyIn, type Manifest, manifestsOf, oursIn, type Problem } from './manifests.ts';
import { areShared, readNamespaces } from './namespaces.ts';
import type { PlannedObject } from './objects.ts';
import { sourcesOf, unreadConfigMap, withUnreadApplied } from './schemas.ts';
import { readSecrets, type SeenSecrets } from './secrets.ts';

export interface ReadResult {
  readonly objects: readonly PlannedObject[];
  /** What they need in other namespaces, and may not be read. */
  readonly unread: readonly NodeName[];
  readonly configMaps: readonly AnyObject[];
  readonly secrets: SeenSecrets;
  readonly namespaces: readonly AnyObject[];
  /** Mistakes that keep manifests from being applied. */
  readonly problems: readonly Problem[];
  /** What could not be read, or could not be asked of the API server, and so makes the plan less certain. */
  readonly notes: readonly string[];
}

interface Given {
  readonly namespace: string;
  readonly documents: readonly Document[];
  /** The objects to delete. */
  readonly deleted: ReadonlySet<NodeName>;
}

/**
 * All objects of the plan's namespaces, with those they refer to elsewhere, and what they should become.
 * `asTheyAre`: the same objects without any changes asked for; they are not listed again for that.
 */
export async function readObjects(
  api: KubeClient,
  given: Given,
  signal: AbortSignal,
): Promise<ReadResult & { readonly asTheyAre: () => Promise<ReadResult> }> {
  const notes: string[] = [];
  const namespaces = new Set([
    given.namespace,
    ...oursIn(given.documents).map(({ manifest }) => manifest.metadata.namespace ?? given.namespace),
    ...[...given.deleted].map((name) => splitNode(name).namespace),
  ]);
  const live = await liveObjects(api, namespaces, parentsIn(given), signal);
  const nothing = { namespace: given.namespace, documents: [], deleted: new Set<NodeName>() };
  return {
    ...(await becoming(api, given, live, notes, signal)),
    asTheyAre: () => becoming(api, nothing, live, [], signal),
  };
}

/** What existing objects, and those yet to be created, should become. */
async function becoming(
  api: KubeClient,
  given: Given,
  { live, unread }: LiveObjects,
  notes: string[],
  signal: AbortSignal,
): Promise<ReadResult> {
  const { wanted, problems } = await wantedObjects(api, given, live, notes, signal);
  const names = [...new Set([...live.keys(), ...wanted.keys()])];
  const objects = names.flatMap((name): readonly PlannedObject[] => {
    const { kind, key } = splitNode(name);
    const definition = definitionOf(kind);
    if (definition === undefined) return [];
    const found = live.get(name)?.object;
    const object = found === undefined ? undefined : withoutManagedFields(found);
    const next = given.deleted.has(name) ? undefined : (wanted.get(name) ?? object);
    return [{ definition, key, live: object, wanted: next }];
  });
  if (areShared(objects))
    notes.push('Objects in other namespaces that a space or cluster here admits were not looked at');
  const maps = await configMapsFor(api, given, objects, signal);
  notes.push(
    ...maps.unread.map(
      (key) =>
        `ConfigMap ${key} may not be read by you (get configmaps): this plan assumes that it exists, and is as it was applied`,
    ),
  );
  const secrets = await readSecrets(api, given, objects, notes, signal);
  const namespaces = await readNamespaces(api, given, objects, notes, signal);
  return {
    objects: objects.map((object) => withUnreadApplied(object, maps.unread)),
    unread,
    configMaps: maps.configMaps,
    secrets,
    namespaces,
    problems,
    notes,
  };
}

/** What the manifests make of the existing objects, by name. */
async function wantedObjects(
  api: KubeClient,
  given: Pick<Given, 'namespace' | 'documents'>,
  live: ReadonlyMap<NodeName, Live>,
  notes: string[],
  signal: AbortSignal,
) {
  const ours = oursIn(given.documents);
  const { applied, twice } = appliedOf(ours, given.namespace);
  const namespaces = given.documents.filter(({ manifest }) => manifest.kind === NAMESPACES.kind);
  const coming = new Set(namespaces.map(({ manifest }) => manifest.metadata.name));
  const wanted = new Map<NodeName, AnyObject>();
  const problems = [...twice];
  await Promise.all(
    applied.map(async ({ name, where, definition, whole }) => {
      const answer = await dryRun(api, definition, whole, live.get(name)?.object, coming, signal);
      if ('problems' in answer) problems.push(...answer.problems.map((text) => ({ where, text: `${name}: ${text}` })));
      else wanted.set(name, withoutManagedFields(answer.object));
      if ('note' in answer && answer.note !== undefined) notes.push(answer.note);
    }),
  );
  const order = ours.map(({ where }) => where);
  const sorted = problems.toSorted((one, other) => order.indexOf(one.where) - order.indexOf(other.where));
  return { wanted, problems: sorted };
}

interface Applied {
  /** Of a document that is nameless, only the kind. */
  readonly name: NodeName;
  readonly where: string;
  readonly definition: ResourceDefinition;
  /** With its namespace. */
  readonly whole: Manifest;
}

/** The manifests to apply, and those that are left out because another one is for the same object. */
function appliedOf(ours: readonly Document[], defaultNamespace: string) {
  const places = new Map<NodeName, string>();
  const applied: Applied[] = [];
  const twice: Problem[] = [];
  for (const { manifest, where, isNameless } of ours) {
    const definition = definitionOf(manifest.kind);
    if (definition === undefined) continue;
    const { kind } = definition;
    const namespace = manifest.metadata.namespace ?? defaultNamespace;
    const whole = { ...manifest, metadata: { ...manifest.metadata, namespace } };
    const name = isNameless ? kind : nodeName(kind, keyIn(namespace, manifest));
    const before = places.get(name);
    if (before === undefined) applied.push({ name, where, definition, whole });
    else twice.push({ where, text: `${name}: it is already in ${before}: keep one of them` });
    // Nameless ones may be for different objects.
    if (!isNameless) places.set(name, before ?? where);
  }
  return { applied, twice };
}

interface Live {
  readonly object: AnyObject;
  readonly parent: NodeName | undefined;
}

/** The objects that the manifests refer to. */
function parentsIn(given: Given): readonly NodeName[] {
  return oursIn(given.documents).flatMap(({ manifest }) => {
    const definition = definitionOf(manifest.kind);
    if (definition === undefined) return [];
    const metadata = { ...manifest.metadata, namespace: manifest.metadata.namespace ?? given.namespace };
    const { parent } = itemOf(definition, { ...manifest, metadata } as unknown as AnyObject);
    // A reference without a name is a mistake that is reported elsewhere.
    return parent === undefined || parent.endsWith('/') ? [] : [parent];
  });
}

interface LiveObjects {
  readonly live: ReadonlyMap<NodeName, Live>;
  readonly unread: readonly NodeName[];
}

/** `parents`: what is needed besides, in any namespace. */
async function liveObjects(
  api: KubeApi,
  namespaces: ReadonlySet<string>,
  parents: readonly NodeName[],
  signal: AbortSignal,
): Promise<LiveObjects> {
  const found = new Map<NodeName, Live>();
  const take = (definition: ResourceDefinition, object: AnyObject) => {
    const item = itemOf(definition, object);
    found.set(nodeName(definition.kind, item.key), { object, parent: item.parent });
  };
  const refused: KubeError[] = [];
  for (const namespace of namespaces) {
    for (const definition of definitions) {
      const listed = await unlessForbidden(listAllPages(api, resourceOf(definition), { namespace }, signal));
      if (listed instanceof KubeError) refused.push(listed);
      else for (const object of listed) take(definition, object);
    }
  }
  // Without these objects, the plan would not show what happens to them. All missing rights are reported at once.
  if (refused.length > 0) throw new KubeError(refused.map(({ message }) => message).join('\n'), { status: 403 });
  const unread: NodeName[] = [];
  // Clusters before their spaces: each may be in another namespace.
  for (const definition of [databaseClusterDefinition, databaseSpaceDefinition] as readonly ResourceDefinition[]) {
    const needed = [...parents, ...[...found.values()].flatMap(({ parent }) => parent ?? [])];
    const missing = needed.filter((name) => name.startsWith(`${definition.kind} `) && !found.has(name));
    for (const node of new Set(missing)) {
      const { namespace, name } = splitNode(node);
      const object = await unlessForbidden(api.get(resourceOf(definition), { namespace, name }, signal));
      if (object instanceof KubeError) unread.push(node);
      else if (object !== undefined) take(definition, object);
    }
  }
  return { live: found, unread };
}

/** The ConfigMaps with schema sources, those in the manifests before those in the cluster. */
async function configMapsFor(
  api: KubeApi,
  given: { readonly namespace: string; readonly documents: readonly Document[] },
  objects: readonly PlannedObject[],
  signal: AbortSignal,
) {
  const written = manifestsOf(CONFIG_MAPS, given);
  const found = await Promise.all(
    [...sourcesOf(objects)].map(async (key) => {
      const manifest = written.get(key);
      if (manifest !== undefined) return { key, map: asConfigMap(key, manifest) };
      return { key, map: await unlessForbidden(api.get(CONFIG_MAPS, splitKey(key), signal)) };
    }),
  );
  const unread = found.filter(({ map }) => map instanceof KubeError).map(({ key }) => key);
  const configMaps = found.flatMap(({ key, map }) =>
    map === undefined ? [] : [map instanceof KubeError ? unreadConfigMap(key, objects) : map],
  );
  return { configMaps, unread };
}

/** The API server reads a key without a value as an empty one. */
function asConfigMap(key: ObjectKey, { metadata, data }: Manifest): AnyObject {
  const whole = { ...metadata, ...splitKey(key), uid: '', resourceVersion: '' };
  const texts = Object.entries(data ?? {}).map(([name, text]) => [name, text ?? '']);
  return { metadata: whole, data: Object.fromEntries(texts) } as AnyObject;
}
