import { isDeepStrictEqual } from 'node:util';
import { recordOf } from '../base/is-record.ts';
import { adminSecretName } from '../kinds/databasecluster/identity.ts';
import { usernameOf } from '../kinds/databaseuser/observation.ts';
import { newSecret, wantedSecret } from '../kinds/databaseuser/secret/content.ts';
import { MANAGED_BY, type NewSecret, OWNER_LABEL, ownerValue } from '../kinds/secrets.ts';
import { clusterKeyOf } from '../kinds/server/access.ts';
import type { AnyObject, Resource } from '../kube/api.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '../kube/api.ts';
import { isStatusConditionTrue } from '../kube/condition.ts';
import { keyOf, type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { resourceOf } from '../plugin/kinds.ts';
import type { FakeKube } from '../sandbox/fake-kube.ts';
import { LEVELS } from '../simulator/cloud/state.ts';
import {
  type Clouds,
  cloudOf,
  EXISTING_LOGIN,
  FACTORY_LOGIN,
  OTHER_PASSWORD,
  SANDBOX_LOGIN,
  SANDBOX_PASSWORD,
} from './clouds.ts';
import {
  clustersOf,
  type PlannedCluster,
  type PlannedObject,
  type PlannedSpace,
  type PlannedUser,
  securedIn,
  spacesOf,
  usersOf,
} from './objects.ts';
import { type CopiedSchemas, dataOf } from './schemas.ts';
import { type SeenSecret, type SeenSecrets, secretsOf } from './secrets.ts';

/** The spaces that the cloud itself was asked about, and answered. */
type Listed = ReadonlyMap<ObjectKey, unknown>;

/** Puts everything into the copy of the Kubernetes API: objects as they should become, Secrets with the copies' logins only. */
export function copyObjects(
  kube: FakeKube,
  given: {
    readonly objects: readonly PlannedObject[];
    readonly configMaps: readonly AnyObject[];
    readonly secrets: SeenSecrets;
    readonly namespaces: readonly AnyObject[];
    readonly schemas: CopiedSchemas;
    readonly listed: Listed;
  },
  clouds: Clouds,
  nowMs: number,
): void {
  const { objects, configMaps, secrets, namespaces, schemas, listed } = given;
  for (const { metadata } of namespaces) kube.put(NAMESPACES, { metadata });
  const versions = new Map([
    ...copySecrets(kube, objects, secrets, clouds, listed),
    ...copyConfigMaps(kube, configMaps),
  ]);
  for (const planned of objects) {
    const resource = resourceOf(planned.definition);
    const { live, wanted } = planned;
    if (live === undefined) {
      if (wanted !== undefined) kube.put(resource, born(planned, wanted));
      continue;
    }
    kube.put(resource, {
      ...asOf(live, wanted),
      status: lookedAt(settled(planned, versions, schemas.get(planned.key)?.digest), nowMs),
    } as AnyObject);
    if (wanted === undefined) kube.remove(resource, splitKey(planned.key));
  }
}

function born({ key }: PlannedObject, wanted: AnyObject): AnyObject {
  const { namespace, name } = splitKey(key);
  const metadata = {
    ...wanted.metadata,
    namespace,
    name,
    uid: `uid-of-${key}`,
    generation: 1,
    creationTimestamp: LATEST,
  };
  return { ...wanted, metadata, status: { observedGeneration: -1 } } as AnyObject;
}

/** Younger than everything else: when two objects want the same thing, the older one wins. */
const LATEST = '9999-01-01T00:00:00Z';

function asOf(live: AnyObject, wanted: PlannedObject['wanted']): AnyObject {
  if (wanted === undefined) return live;
  const { metadata, spec } = live;
  const changed = JSON.stringify(wanted.spec) !== JSON.stringify(spec);
  const generation = (metadata.generation ?? 0) + (changed ? 1 : 0);
  const { annotations = {} } = wanted.metadata;
  // An object that is being deleted stays so: applying a manifest does not undo that.
  return { ...live, metadata: { ...metadata, annotations, generation }, spec: wanted.spec } as AnyObject;
}

type Versions = ReadonlyMap<string, string>;

/** The status with the resource versions of the copies, so that what was verified still counts as verified. */
function settled(
  { definition, key, live }: PlannedObject,
  versions: Versions,
  schemaHash: string | undefined,
): Readonly<Record<string, unknown>> {
  const status = recordOf(live?.status);
  const { namespace } = splitKey(key);
  // A Secret or ConfigMap that does not exist keeps the recorded version: the operator finds it gone.
  const version = (name: unknown, before: unknown) =>
    versions.get(`secrets/${objectKey(namespace, String(name))}`) ?? before;
  const merged = { ...status };
  const patch = (field: string, change: (value: Readonly<Record<string, unknown>>) => object) => {
    const value = merged[field];
    if (typeof value === 'object' && value !== null)
      merged[field] = { ...value, ...change(value as Readonly<Record<string, unknown>>) };
  };
  const asVerified = ({ secretName, secretResourceVersion: before }: Readonly<Record<string, unknown>>) => ({
    secretResourceVersion: version(secretName, before),
  });
  if (definition.kind === 'DatabaseCluster') patch('credentials', asVerified);
  if (definition.kind === 'DatabaseUser')
    patch('connection', (connection) => ({
      ...asVerified(connection),
      ...sourceAsVerified(live, connection, version),
    }));
  if (definition.kind === 'Database' && schemaHash !== undefined) merged['schemaHash'] = schemaHash;
  return merged;
}

/**
 * What is Stalled rests for up to ten minutes when an operator starts, as it did in the copy, by how long it has been so. One that runs hears
 * at once when another object no longer stands in its way. What was refused is only tried again now and then.
 */
function lookedAt(status: Readonly<Record<string, unknown>>, nowMs: number): Readonly<Record<string, unknown>> {
  const { conditions, lastError } = status;
  if (!Array.isArray(conditions) || lastError !== undefined) return status;
  const lastTransitionTime = new Date(nowMs).toISOString();
  const anew = (each: unknown) =>
    recordOf(each)['type'] === 'Stalled' ? { ...recordOf(each), lastTransitionTime } : each;
  return { ...status, conditions: conditions.map(anew) };
}

/** A user's own password, if it was verified, came from the Secret that the live object names. */
function sourceAsVerified(
  live: AnyObject | undefined,
  { sourceResourceVersion: before }: Readonly<Record<string, unknown>>,
  version: (name: unknown, before: unknown) => unknown,
): object {
  if (before === undefined) return {};
  return { sourceResourceVersion: version(recordOf(recordOf(live?.spec)['passwordSecretRef'])['name'], before) };
}

/** Returns resource versions by `secrets/namespace/name`. */
function copySecrets(
  kube: FakeKube,
  objects: readonly PlannedObject[],
  seen: SeenSecrets,
  clouds: Clouds,
  listed: Listed,
): Map<string, string> {
  const secrets = new Map<ObjectKey, NewSecret>();
  const put = (key: ObjectKey, { data, ...rest }: NewSecret) =>
    secrets.set(key, { ...rest, data: { ...secrets.get(key)?.data, ...data } });
  for (const key of secretsOf(objects)) {
    const found = seen.get(key);
    if (found !== undefined) put(key, withUnknownValues(found));
  }
  for (const [key, data] of [
    ...ownPasswords(objects),
    ...existingLogins(objects),
    ...tokens(objects, clouds, listed),
  ]) {
    const keys = seen.get(key)?.keys;
    const there = Object.entries(data).filter(([name]) => keys === undefined || keys.has(name));
    put(key, { data: Object.fromEntries(there), labels: {} });
  }
  for (const cluster of clustersOf(objects)) {
    const { metadata } = cluster;
    const labels = { ...MANAGED_BY, [OWNER_LABEL]: ownerValue(metadata.name) };
    const name = securedIn(cluster) ?? takenOver(cluster, clouds);
    if (name === undefined) continue;
    const key = objectKey(metadata.namespace ?? '', name);
    // Another object may have made one of that name since somebody deleted this one's. One without labels may have lost them.
    const owner = seen.get(key)?.labels[OWNER_LABEL];
    if (owner === undefined || owner === labels[OWNER_LABEL]) secrets.set(key, { data: SANDBOX_LOGIN, labels });
  }
  for (const user of usersOf(objects)) {
    const { endpoint = '', addresses = '', secretName, sourceResourceVersion } = user.status.connection ?? {};
    if (secretName === undefined) continue;
    const where = { endpoint, addresses, address: addresses.split(',')[0] ?? '' };
    const own = sourceResourceVersion === undefined ? [] : (['current'] as const);
    const current = ownPassword(user, secrets) ?? SANDBOX_PASSWORD;
    // What a space or cluster also uses has their value in the copy, so the user has that as its password.
    if (current !== SANDBOX_PASSWORD) clouds.setPassword(clusterKeyOf(user), usernameOf(user), current);
    const passwords = { current, next: undefined, own };
    const wanted = wantedSecret(user, where, passwords, { at: user.status.lastRotation ?? '' });
    secrets.set(objectKey(user.metadata.namespace ?? '', secretName), newSecret(wanted));
  }
  const isThere = (key: ObjectKey) => !seen.has(key) || seen.get(key) !== undefined;
  return new Map(
    [...secrets]
      .filter(([key]) => isThere(key))
      .map(([key, { type = 'Opaque', data, ...metadata }]) => [
        `secrets/${key}`,
        store(kube, SECRETS, key, metadata, { type, data: encoded(data) }),
      ]),
  );
}

/** The Secret that holds the login of a cluster that would be taken over. */
function takenOver({ object, metadata, next }: PlannedCluster, clouds: Clouds): string | undefined {
  const isKnown = clouds.server(object.key)?.admin === 'own';
  return isKnown ? adminSecretName({ metadata, spec: next }) : undefined;
}

/** The Secret with its own metadata, and with logins that work nowhere. */
function withUnknownValues({ labels, annotations, ownerReferences, type, keys }: SeenSecret): NewSecret {
  const data = Object.fromEntries([...keys].map((key) => [key, 'sandbox-unknown']));
  return { labels, annotations, ownerReferences, type, data };
}

type Contents = readonly (readonly [ObjectKey, Readonly<Record<string, string>>])[];

/**
 * The tokens of the spaces. If one Secret serves several levels, the highest, which comes last, is used for all. If spaces of several
 * teams name it, it is the token of the team whose space works.
 */
function tokens(objects: readonly PlannedObject[], clouds: Clouds, listed: Listed): Contents {
  const spaces = spacesOf(objects);
  const team = (space: PlannedSpace) => JSON.stringify([cloudOf(space), space.spec.teamID]);
  const proofs = new Map<string, number>();
  for (const space of spaces) proofs.set(team(space), Math.max(proof(space, listed), proofs.get(team(space)) ?? 0));
  const named = spaces
    .flatMap((space) =>
      space.next.apiTokens.map((apiToken) => ({ space, sure: proofs.get(team(space)) ?? 0, ...apiToken })),
    )
    .toSorted((one, other) => one.sure - other.sure || LEVELS.indexOf(one.level) - LEVELS.indexOf(other.level));
  return [
    ...named.map(({ space: { object, metadata }, level, secretRef }) => {
      const token = clouds.token(object.key, level);
      const { name, clientIDKey = 'clientID', clientSecretKey = 'clientSecret' } = secretRef;
      const data = { [clientIDKey]: token.clientID, [clientSecretKey]: token.clientSecret };
      return [objectKey(metadata.namespace ?? '', name), data] as const;
    }),
    ...spaces.map(({ metadata, next }) => {
      const { name, usernameKey = 'username', passwordKey = 'password' } = next.defaultCredentialsSecretRef;
      const data = { [usernameKey]: FACTORY_LOGIN.username, [passwordKey]: FACTORY_LOGIN.password };
      return [objectKey(metadata.namespace ?? '', name), data] as const;
    }),
  ];
}

/** How sure it is that a space's tokens work. */
function proof({ object, status }: PlannedSpace, listed: Listed): number {
  if (listed.has(object.key)) return 2;
  return isStatusConditionTrue(status.conditions, 'Ready') ? 1 : 0;
}

/** Whether the user has the password that is in the Secret which its object names, and will go on naming. */
function isInUse({ spec, next, status }: PlannedUser): boolean {
  const isKnown = status.connection?.sourceResourceVersion !== undefined;
  return isKnown && isDeepStrictEqual(spec.passwordSecretRef, next.passwordSecretRef);
}

/** Undefined: it has none, or not yet. */
function ownPassword(user: PlannedUser, secrets: ReadonlyMap<ObjectKey, NewSecret>): string | undefined {
  const { passwordSecretRef: source } = user.next;
  if (source === undefined || !isInUse(user)) return undefined;
  return secrets.get(objectKey(user.metadata.namespace ?? '', source.name))?.data[source.key ?? 'password'];
}

/** Users' own passwords. A Secret in use holds the user's password, a newly named one an unknown one; for one key, the former wins. */
function ownPasswords(objects: readonly PlannedObject[]): Contents {
  return usersOf(objects)
    .toSorted((one, other) => Number(isInUse(one)) - Number(isInUse(other)))
    .flatMap((user) => {
      const { passwordSecretRef: source } = user.next;
      if (source === undefined) return [];
      const password = isInUse(user) ? SANDBOX_PASSWORD : OTHER_PASSWORD;
      return [
        [objectKey(user.metadata.namespace ?? '', source.name), { [source.key ?? 'password']: password }] as const,
      ];
    });
}

/** The logins that clusters were set up with, according to their specs. */
function existingLogins(objects: readonly PlannedObject[]): Contents {
  return clustersOf(objects).flatMap(({ metadata, next: { adminCredentials: { existingSecretRef: ref } = {} } }) => {
    if (ref === undefined) return [];
    const { name, usernameKey = 'username', passwordKey = 'password' } = ref;
    const data = { [usernameKey]: EXISTING_LOGIN.username, [passwordKey]: EXISTING_LOGIN.password };
    return [[objectKey(metadata.namespace ?? '', name), data] as const];
  });
}

function copyConfigMaps(kube: FakeKube, configMaps: readonly AnyObject[]): readonly (readonly [string, string])[] {
  return configMaps.map((map) => {
    const key = keyOf(map);
    return [`configmaps/${key}`, store(kube, CONFIG_MAPS, key, {}, { data: dataOf(map) })] as const;
  });
}

function store(kube: FakeKube, resource: Resource, key: ObjectKey, metadata: object, rest: object): string {
  const whole = { ...splitKey(key), uid: `uid-of-${resource.plural}-${key}`, resourceVersion: '', ...metadata };
  return kube.put(resource, { metadata: whole, ...rest }).metadata.resourceVersion;
}

function encoded(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
