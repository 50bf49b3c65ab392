import type { Cluster } from '../cloud/schema.ts';
import { DATABASE_EXISTS, databaseName } from '../kinds/database/observation.ts';
import { adminSecretName, desiredID, identityOf, isAccepted, isSame } from '../kinds/databasecluster/identity.ts';
import { USER_EXISTS, usernameOf } from '../kinds/databaseuser/observation.ts';
import { ADMIN_ANNOTATIONS, OWNER_LABEL, ownerValue } from '../kinds/secrets.ts';
import { clusterKeyOf } from '../kinds/server/access.ts';
import { findStatusCondition } from '../kube/condition.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';
import {
  databasesOf,
  type PlannedCluster,
  type PlannedDatabase,
  type PlannedObject,
  type PlannedUser,
  securedIn,
  usersOf,
} from './objects.ts';
import type { SeenSecret, SeenSecrets } from './secrets.ts';

/* What is on a cluster's server, as far as objects and Secrets show: a plan asks no server. */

/**
 * Which login works: the one in the cluster's own Secret, the one in the Secret that its object names (existingSecretRef), the
 * one that new clusters come with, or none of these.
 */
export type Admin = 'own' | 'existing' | 'factory' | 'none';

/** The admin user of every copied server, whichever login works. */
export const ADMIN_USERNAME = 'admin';

export interface Contents {
  readonly admin: Admin;
  readonly users: readonly string[];
  readonly databases: readonly { readonly name: string; readonly key: ObjectKey }[];
  /** For a cluster that would be taken over: what the plan assumes without knowing, each phrased to follow "that". */
  readonly guesses: readonly string[];
}

/** The object whose status names the cluster; otherwise one that would take it over. */
export function ownerOf(cluster: Cluster, ofSpace: readonly PlannedCluster[]): PlannedCluster | undefined {
  const has = ofSpace.find(({ status }) => status.clusterID === cluster.id);
  return has ?? ofSpace.find((each) => wouldTakeOver(each, cluster));
}

function wouldTakeOver({ object, metadata, next, status }: PlannedCluster, cluster: Cluster): boolean {
  const id = status.clusterID ?? desiredID({ metadata, spec: next });
  if (id !== cluster.id || next.managementPolicy === 'Observe') return false;
  if (status.createdAt === undefined || status.observedOnly) return next.adoptionPolicy !== 'Never';
  return isAccepted(object.wanted?.metadata ?? {}, identityOf(cluster));
}

/** The users and databases of each DatabaseCluster. */
export interface Dependents {
  readonly users: ReadonlyMap<ObjectKey, readonly PlannedUser[]>;
  readonly databases: ReadonlyMap<ObjectKey, readonly PlannedDatabase[]>;
}

export function dependentsIn(objects: readonly PlannedObject[]): Dependents {
  return {
    users: Map.groupBy(usersOf(objects), clusterKeyOf),
    databases: Map.groupBy(databasesOf(objects), clusterKeyOf),
  };
}

export function contentsOf(
  cluster: Cluster,
  owner: PlannedCluster,
  dependents: Dependents,
  secrets: SeenSecrets,
): Contents {
  const { status } = owner;
  const isHeld = isSame(owner, cluster) && status.createdAt !== undefined && !status.observedOnly;
  const identity = isHeld ? status.createdAt : identityOf(cluster);
  // Those that were on an earlier cluster in this one's place are not here.
  const isHere = (was: string | undefined) => (was ?? identity) === identity;
  const users = dependents.users.get(owner.object.key) ?? [];
  const databases = dependents.databases.get(owner.object.key) ?? [];
  const usersHere = users.filter(({ status: { username, connection } }) => username && isHere(connection?.cluster));
  const databasesHere = databases.filter(({ status: { name, cluster: was } }) => name && isHere(was));
  const ours = {
    users: usersHere.map(({ status: { username = '' } }) => username),
    databases: databasesHere.map(({ status: { name = '' }, object: { key } }) => ({ name, key })),
  };
  const found = withOthers(ours, users, databases);
  if (isHeld) return { ...found, admin: securedIn(owner) === undefined ? newLogin(owner) : 'own', guesses: [] };
  const wasOurs = usersHere.length + databasesHere.length > 0;
  const login = takenLogin(owner, identity, wasOurs, secrets);
  const absentUsers = users
    .filter(({ object }) => object.wanted)
    .map(usernameOf)
    .filter((name) => name !== ADMIN_USERNAME && !found.users.includes(name));
  const absentDatabases = databases
    .filter(({ object }) => object.wanted)
    .map(databaseName)
    .filter((name) => !found.databases.some((database) => database.name === name));
  // Several objects may stand for one user.
  const others = [
    ...[...new Set(absentUsers)].map((name) => `user "${name}"`),
    ...[...new Set(absentDatabases)].map((name) => `database "${name}"`),
  ];
  const absent =
    others.length === 0 ? [] : [`${others.join(' and ')} ${others.length === 1 ? 'does' : 'do'} not exist`];
  const guesses = wouldTakeOver(owner, cluster) ? [...login.guesses, ...absent] : [];
  return { ...found, admin: login.admin, guesses };
}

/** With what objects say that others made: they leave it alone, and may be changed to take it over. */
function withOthers(
  ours: Pick<Contents, 'users' | 'databases'>,
  users: readonly PlannedUser[],
  databases: readonly PlannedDatabase[],
): Pick<Contents, 'users' | 'databases'> {
  const names = users.filter((each) => reasonOf(each) === USER_EXISTS).map(usernameOf);
  const there = new Set(ours.databases.map(({ name }) => name));
  const others = databases
    .filter((each) => reasonOf(each) === DATABASE_EXISTS && !there.has(databaseName(each)))
    .map((each) => ({ name: databaseName(each), key: each.object.key }));
  return {
    users: [...new Set([...ours.users, ...names.filter((name) => name !== ADMIN_USERNAME)])],
    databases: [...ours.databases, ...others],
  };
}

function reasonOf({ status: { conditions } }: PlannedUser | PlannedDatabase): string | undefined {
  return findStatusCondition(conditions, 'Ready')?.reason;
}

function newLogin({ next }: PlannedCluster): Admin {
  return next.adminCredentials?.existingSecretRef === undefined ? 'factory' : 'existing';
}

/** For a cluster that is taken over. `wasOurs`: objects have users or databases there, so its first login was replaced. */
function takenLogin(
  cluster: PlannedCluster,
  identity: string,
  wasOurs: boolean,
  secrets: SeenSecrets,
): Pick<Contents, 'admin' | 'guesses'> {
  const { metadata, next } = cluster;
  const name = adminSecretName({ metadata, spec: next });
  const key = objectKey(metadata.namespace ?? '', name);
  const secret = secrets.get(key);
  if (secret !== undefined && isLoginOf(cluster, identity, secret)) return { admin: 'own', guesses: [] };
  if (wasOurs && !secrets.has(key)) return { admin: 'own', guesses: [`the login in Secret "${name}" works`] };
  if (newLogin(cluster) === 'existing') return { admin: 'existing', guesses: ['the login in existingSecretRef works'] };
  if (wasOurs) return { admin: 'none', guesses: [] };
  return { admin: 'factory', guesses: ['the login that new clusters come with works'] };
}

/** Reports whether the Secret belongs to the object and holds, by its annotation, the login of the cluster created then. */
function isLoginOf({ metadata }: PlannedCluster, identity: string, { labels, annotations, keys }: SeenSecret): boolean {
  const [createdAt = ''] = (annotations[ADMIN_ANNOTATIONS.loginOf] ?? '').split(' ');
  const isOurs = labels[OWNER_LABEL] === ownerValue(metadata.name);
  return isOurs && keys.has('password') && (createdAt === '' || createdAt === identity);
}
