import { databaseClusterDefinition } from '../kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { definitions } from '../kinds/definitions.ts';
import { type AnyObject, CONFIG_MAPS, isForbidden, type KubeApi, KubeError, NAMESPACES } from '../kube/api.ts';
import type { KubeClient } from '../kube/client.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import { listAllPages } from '../kube/list.ts';
import { type ObjectKey, objectKey, splitKey, withoutManagedFields } from '../kube/object.ts';
import { itemOf, nodeName } from '../plugin/inventory.ts';
import { API_VERSION, resourceOf } from '../plugin/kinds.ts';
import { sourcesOf } from './copy.ts';
import { dryRun } from './dry-run.ts';
import type { Document, Problem } from './manifests.ts';
import type { PlannedObject } from './objects.ts';
import { readSecrets, type SeenSecrets } from './secrets.ts';

export interface ReadResult {
  readonly objects: readonly PlannedObject[];
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
  /** `kind namespace/name` of the objects to delete. */
  readonly deleted: ReadonlySet<string>;
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
    ...oursIn(given).map(({ manifest }) => manifest.metadata.namespace ?? given.namespace),
    ...[...given.deleted].map((name) => splitKey(name.split(' ')[1] ?? '').namespace),
  ]);
  const live = await liveObjects(api, namespaces, parentsIn(given), notes, signal);
  const nothing = { namespace: given.namespace, documents: [], deleted: new Set<string>() };
  return {
    ...(await becoming(api, given, live, notes, signal)),
    asTheyAre: () => becoming(api, nothing, live, [], signal),
  };
}

function oursIn({ documents }: Given): readonly Document[] {
  return documents.filter(({ manifest }) => manifest.apiVersion === API_VERSION);
}

/** What existing objects, and those yet to be created, should become. */
async function becoming(
  api: KubeClient,
  given: Given,
  live: ReadonlyMap<string, Live>,
  notes: string[],
  signal: AbortSignal,
): Promise<ReadResult> {
  const coming = new Set(
    given.documents.flatMap(({ manifest: { kind, metadata } }) => (kind === NAMESPACES.kind ? [metadata.name] : [])),
  );
  const { wanted, problems } = await wantedObjects(api, oursIn(given), { ...given, coming }, live, notes, signal);
  const names = [...new Set([...live.keys(), ...wanted.keys()])];
  const objects = names.flatMap((name): readonly PlannedObject[] => {
    const definition = definitions.find(({ kind }) => name.startsWith(`${kind} `));
    if (definition === undefined) return [];
    const found = live.get(name)?.object;
    const object = found === undefined ? undefined : withoutManagedFields(found);
    const next = given.deleted.has(name) ? undefined : (wanted.get(name) ?? object);
    return [{ definition, key: name.slice(definition.kind.length + 1), live: object, wanted: next }];
  });
  if (objects.some(({ live: object }) => isShared(object)))
    notes.push('Objects in other namespaces that a space or cluster here admits were not looked at');
  const configMaps = await configMapsFor(api, given, objects, notes, signal);
  const secrets = await readSecrets(api, given, objects, notes, signal);
  const namespacesRead = await namespacesOf(api, given, objects, notes, signal);
  return { objects, configMaps, secrets, namespaces: namespacesRead, problems, notes };
}

/** What the manifests make of the existing objects, by name. */
async function wantedObjects(
  api: KubeClient,
  ours: readonly Document[],
  given: { readonly namespace: string; readonly coming: ReadonlySet<string> },
  live: ReadonlyMap<string, Live>,
  notes: string[],
  signal: AbortSignal,
) {
  const wanted = new Map<string, AnyObject>();
  const problems: Problem[] = [];
  const places = new Map<string, string>();
  const asked = ours.flatMap(({ manifest, where, isNameless }) => {
    const definition = definitions.find(({ kind }) => kind === manifest.kind);
    if (definition === undefined) return [];
    const namespace = manifest.metadata.namespace ?? given.namespace;
    const whole = { ...manifest, metadata: { ...manifest.metadata, namespace } };
    const name = nodeName(definition.kind, objectKey(namespace, manifest.metadata.name));
    if (isNameless) return [{ name: definition.kind, where, definition, whole }];
    const before = places.get(name);
    if (before !== undefined) {
      problems.push({ where, text: `${name}: it is already in ${before}: keep one of them` });
      return [];
    }
    places.set(name, where);
    return [{ name, where, definition, whole }];
  });
  await Promise.all(
    asked.map(async ({ name, where, definition, whole }) => {
      const answer = await dryRun(api, definition, whole, live.get(name)?.object, given.coming, signal);
      if ('problems' in answer) problems.push(...answer.problems.map((text) => ({ where, text: `${name}: ${text}` })));
      else wanted.set(name, withoutManagedFields(answer.object));
      if ('note' in answer && answer.note !== undefined) notes.push(answer.note);
    }),
  );
  const order = ours.map(({ where }) => where);
  const sorted = problems.toSorted((one, other) => order.indexOf(one.where) - order.indexOf(other.where));
  return { wanted, problems: sorted };
}

/** Reports whether objects of other namespaces may be on it. */
function isShared(object: AnyObject | undefined): boolean {
  return (admitted(object) ?? 'Same') !== 'Same';
}

/** Reports whether the labels of namespaces decide that. */
function selectsNamespaces(object: AnyObject | undefined): boolean {
  return admitted(object) === 'Selector';
}

function admitted(object: AnyObject | undefined): string | undefined {
  const spec = (object?.spec ?? {}) as { readonly allowedNamespaces?: { readonly from?: string } };
  return spec.allowedNamespaces?.from;
}

/** The namespaces as the files make them, with the label that the API server gives to each. */
async function namespacesOf(
  api: KubeApi,
  { documents }: Pick<Given, 'documents'>,
  objects: readonly PlannedObject[],
  notes: string[],
  signal: AbortSignal,
): Promise<readonly AnyObject[]> {
  const found: AnyObject[] = [];
  const isAsked = objects.some(({ live, wanted }) => [live, wanted].some(selectsNamespaces));
  for (const name of new Set(objects.map(({ key }) => splitKey(key).namespace))) {
    try {
      const namespace = await api.get(NAMESPACES, { name }, signal);
      const written = documents.find(
        ({ manifest: { kind, metadata } }) => kind === NAMESPACES.kind && metadata.name === name,
      );
      if (namespace === undefined && written === undefined) continue;
      const { metadata = { name, uid: '', resourceVersion: '' } } = namespace ?? {};
      const labels = { [NAME_LABEL]: name, ...metadata.labels, ...written?.manifest.metadata.labels };
      found.push({ metadata: { ...metadata, labels } });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (isAsked)
        notes.push(`You may not read namespace ${name} (get namespaces): it is not known whether a selector admits it`);
    }
  }
  return found;
}

const NAME_LABEL = 'kubernetes.io/metadata.name';

interface Live {
  readonly object: AnyObject;
  readonly parent: string | undefined;
}

/** The objects that the manifests refer to, as `kind namespace/name`. */
function parentsIn(given: Given): readonly string[] {
  return oursIn(given).flatMap(({ manifest }) => {
    const definition = definitions.find(({ kind }) => kind === manifest.kind);
    if (definition === undefined) return [];
    const metadata = { ...manifest.metadata, namespace: manifest.metadata.namespace ?? given.namespace };
    const { parent } = itemOf(definition, { ...manifest, metadata } as unknown as AnyObject);
    // A reference without a name is a mistake that is reported elsewhere.
    return parent === undefined || parent.endsWith('/') ? [] : [parent];
  });
}

/** `parents`: what is needed besides, in any namespace, as `kind namespace/name`. */
async function liveObjects(
  api: KubeApi,
  namespaces: ReadonlySet<string>,
  parents: readonly string[],
  notes: string[],
  signal: AbortSignal,
): Promise<Map<string, Live>> {
  const found = new Map<string, Live>();
  const take = (definition: ResourceDefinition, object: AnyObject) => {
    const item = itemOf(definition, object);
    found.set(nodeName(definition.kind, item.key), { object, parent: item.parent });
  };
  const refused: KubeError[] = [];
  for (const namespace of namespaces) {
    for (const definition of definitions) {
      try {
        const objects = await listAllPages(api, resourceOf(definition), { namespace }, signal);
        for (const object of objects) take(definition, object);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        refused.push(error);
      }
    }
  }
  // Without these objects, the plan would not show what happens to them. All missing rights are reported at once.
  if (refused.length > 0) throw new KubeError(refused.map(({ message }) => message).join('\n'), { status: 403 });
  // Clusters before their spaces: each may be in another namespace.
  for (const definition of [databaseClusterDefinition, databaseSpaceDefinition] as readonly ResourceDefinition[]) {
    const needed = [...parents, ...[...found.values()].flatMap(({ parent }) => parent ?? [])];
    const missing = needed.filter((name) => name.startsWith(`${definition.kind} `) && !found.has(name));
    for (const name of new Set(missing)) {
      const object = await readOrNote(api, definition, name, notes, signal);
      if (object !== undefined) take(definition, object);
    }
  }
  return found;
}

async function readOrNote(
  api: KubeApi,
  definition: ResourceDefinition,
  name: string,
  notes: string[],
  signal: AbortSignal,
): Promise<AnyObject | undefined> {
  try {
    return await api.get(resourceOf(definition), splitKey(name.split(' ')[1] ?? ''), signal);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    notes.push(`${name} may not be read by you (get ${definition.plural}): what depends on it is shown as waiting`);
    return undefined;
  }
}

/** The ConfigMaps with schema sources, those in the manifests before those in the cluster. */
async function configMapsFor(
  api: KubeApi,
  given: { readonly namespace: string; readonly documents: readonly Document[] },
  objects: readonly PlannedObject[],
  notes: string[],
  signal: AbortSignal,
): Promise<readonly AnyObject[]> {
  const written = new Map<ObjectKey, AnyObject>(
    given.documents
      .map(({ manifest }) => manifest)
      .filter(({ kind }) => kind === CONFIG_MAPS.kind)
      .map(({ metadata, data = {} }) => {
        const namespace = metadata.namespace ?? given.namespace;
        const whole = { ...metadata, namespace, uid: '', resourceVersion: '' };
        return [objectKey(namespace, metadata.name), { metadata: whole, data } as AnyObject];
      }),
  );
  const maps: AnyObject[] = [];
  for (const key of sourcesOf(objects)) {
    const map = written.get(key) ?? (await readConfigMap(api, key, notes, signal));
    if (map !== undefined) maps.push(map);
  }
  return maps;
}

async function readConfigMap(
  api: KubeApi,
  key: ObjectKey,
  notes: string[],
  signal: AbortSignal,
): Promise<AnyObject | undefined> {
  try {
    return await api.get(CONFIG_MAPS, splitKey(key), signal);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    notes.push(`ConfigMap ${key} may not be read by you (get configmaps): the schema from it is shown as missing`);
    return undefined;
  }
}
