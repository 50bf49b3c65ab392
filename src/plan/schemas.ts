import type { Clock } from '../base/clock.ts';
import { recordOf } from '../base/is-record.ts';
import { ServerClient } from '../database/client.ts';
import { hashOf, schemaDigest } from '../kinds/database/sources/schema-digest.ts';
import type { Login } from '../kinds/secrets.ts';
import type { AnyObject } from '../kube/api.ts';
import { keyOf, type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { loneServer } from '../simulator/lone-server.ts';
import type { SavedDatabase } from '../simulator/saved-state.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { createSimulator } from '../simulator/simulator.ts';
import { databasesOf, type PlannedObject } from './objects.ts';

/*
 * The schemas of the databases, for the copies of their servers. Sources that are still as they were applied are run again. If a
 * source has changed since, nobody has the old text.
 */

/** A schema as a copied server has it, and its digest. */
export interface CopiedSchema extends Pick<SavedDatabase, 'types' | 'functions'> {
  readonly digest: string;
}

/** By Database; absent if nothing was applied. */
export type CopiedSchemas = ReadonlyMap<ObjectKey, CopiedSchema>;

/** The ConfigMaps from which the plan's databases take their schemas. */
export function sourcesOf(objects: readonly PlannedObject[]): ReadonlySet<ObjectKey> {
  return new Set(
    databasesOf(objects).flatMap(({ metadata, next }) =>
      (next.schema ?? []).flatMap(({ configMapKeyRef: ref }) =>
        ref === undefined ? [] : [objectKey(metadata.namespace ?? '', ref.name)],
      ),
    ),
  );
}

/** The text of each source in a ConfigMap that may not be read. It has to be one that the copy of the server accepts. */
const UNREAD = 'define entity unread;';

/** Takes the place of a ConfigMap that may not be read, with all keys that the databases name. */
export function unreadConfigMap(key: ObjectKey, objects: readonly PlannedObject[]): AnyObject {
  const refs = databasesOf(objects).flatMap(({ metadata, spec, next }) =>
    [spec, next].flatMap(({ schema = [] }) =>
      schema.flatMap(({ configMapKeyRef: ref }) =>
        ref !== undefined && objectKey(metadata.namespace ?? '', ref.name) === key ? [ref.key] : [],
      ),
    ),
  );
  const metadata = { ...splitKey(key), uid: '', resourceVersion: '' };
  return { metadata, data: Object.fromEntries(refs.map((name) => [name, UNREAD])) } as AnyObject;
}

/** The object as if that text had been applied, so that the sources in these ConfigMaps count as unchanged. */
export function withUnreadApplied(object: PlannedObject, unread: readonly ObjectKey[]): PlannedObject {
  const [database] = databasesOf([object]);
  const { live, key } = object;
  if (database === undefined || live === undefined) return object;
  const { namespace } = splitKey(key);
  const appliedSchema = database.status.appliedSchema?.map((applied) => {
    const [, name = ''] = applied.source.split('/');
    const isUnread = applied.source.startsWith('configmap/') && unread.includes(objectKey(namespace, name));
    return isUnread ? { ...applied, hash: hashOf(UNREAD) } : applied;
  });
  const status = { ...recordOf(live.status), ...(appliedSchema === undefined ? {} : { appliedSchema }) };
  return { ...object, live: { ...live, status } };
}

/** Makes them on a separate server, since that of a suspended cluster does not answer. */
export async function copySchemas(
  { objects, configMaps }: { readonly objects: readonly PlannedObject[]; readonly configMaps: readonly AnyObject[] },
  clock: Clock,
): Promise<CopiedSchemas> {
  const applied = databasesOf(objects).filter(
    ({ status: { name, appliedSchema = [] } }) => name && appliedSchema.length > 0,
  );
  if (applied.length === 0) return new Map();
  // Two servers may have databases of the same name.
  const names = applied.map((_, index) => `d${index}`);
  const simulator = createSimulator({
    clock,
    random: createSeededRandom(2),
    knobs: { serverLagMs: [0, 0], latencyMs: [0, 0], passwordCheckMs: 0 },
    state: loneServer(ADDRESS, LOGIN, names),
  });
  const { transport } = simulator;
  const client = new ServerClient({ baseURL: `https://${ADDRESS}`, clock, random: createSeededRandom(3), transport });
  const digests: string[] = [];
  for (const [index, database] of applied.entries()) {
    const hashes = new Set(database.status.appliedSchema?.map(({ hash }) => hash));
    const texts = textsOf(database, configMaps).filter((text) => hashes.has(hashOf(text)));
    digests.push(schemaDigest(await define(client, names[index] ?? '', texts)));
  }
  const made = new Map(simulator.save().clusters[0]?.databases.map((each) => [each.name, each]));
  return new Map(
    applied.map(({ object }, index) => {
      const { types = [], functions = [] } = made.get(names[index] ?? '') ?? {};
      return [object.key, { types, functions, digest: digests[index] ?? '' }] as const;
    }),
  );
}

const ADDRESS = 'copies.simulator.test:8443';
const LOGIN: Login = { username: 'admin', password: 'sandbox' };

/** Leaves out what the simulator does not understand: the copy knows less than a server. Returns the schema. */
async function define(client: ServerClient, name: string, texts: readonly string[]): Promise<string> {
  const { token } = await client.signIn(LOGIN);
  for (const query of texts) {
    const request = { databaseName: name, transactionType: 'schema', query, commit: true } as const;
    await client.oneShotQuery(token, request).catch(() => undefined);
  }
  return client.getSchema(token, name);
}

/** The texts as they were before the plan, for sources that have not changed. */
function textsOf(
  { metadata, spec }: ReturnType<typeof databasesOf>[number],
  configMaps: readonly AnyObject[],
): readonly string[] {
  return (spec.schema ?? []).flatMap(({ inline, configMapKeyRef: ref }) => {
    if (inline !== undefined) return [inline];
    const wanted = objectKey(metadata.namespace ?? '', ref?.name ?? '');
    const map = configMaps.find((each) => keyOf(each) === wanted);
    const text = ref === undefined ? undefined : dataOf(map)[ref.key];
    return text === undefined ? [] : [text];
  });
}

export function dataOf(map: AnyObject | undefined): Readonly<Record<string, string>> {
  return (map as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data ?? {};
}
