import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { ServerClient } from '../../database/client.ts';
import { Session } from '../../database/session.ts';
import { ApiError } from '../../http/api-error.ts';
import { DATABASE_CLUSTERS } from '../../kinds/databasecluster/resource.ts';
import { databaseClusterDefinition } from '../../kinds/databasecluster/schema.ts';
import { caOf } from '../../kinds/databasespace/connection/ca-bundle.ts';
import { DATABASE_USERS } from '../../kinds/databaseuser/resource.ts';
import { databaseUserDefinition } from '../../kinds/databaseuser/schema.ts';
import { readSecret } from '../../kinds/secrets.ts';
import { CLUSTER_SUSPENDED } from '../../kinds/server/access.ts';
import type { KubeApi } from '../../kube/api.ts';
import { findStatusCondition } from '../../kube/condition.ts';
import { parseSpec, parseStatus } from '../../kube/definition.ts';
import { type ObjectKey, objectKey, splitKey } from '../../kube/object.ts';
import { itemOf } from '../item.ts';
import { commandFor } from '../kinds.ts';
import { splitNode } from '../node-name.ts';
import { readSpace, type SpaceDependencies } from '../space.ts';

export interface ServerTarget {
  readonly namespace: string;
  /** Name of the DatabaseCluster: the one in this namespace if it has users here, otherwise one in any. */
  readonly cluster: string;
  /** Name of the DatabaseUser; undefined: the cluster's only Ready one. */
  readonly user: string | undefined;
  /** Base URL to use instead of the published one, for example of a port-forward. */
  readonly server: string | undefined;
  /** From `reachOf`, for commands that are printed. */
  readonly reach: string;
}

/** A session with the login of a DatabaseUser's connection Secret. Throws an Error that says what to do. */
export async function sessionFor(
  dependencies: SpaceDependencies & { readonly clock: Clock; readonly random: Random },
  target: ServerTarget,
  signal: AbortSignal,
): Promise<Session> {
  const { api, clock, random, transport } = dependencies;
  const { secretName, clusterKey } = await connectionOf(api, target, signal);
  const secret = await readSecret(api, target.namespace, secretName, signal);
  const value = (key: string) => secret?.data.get(key);
  const username = value('username');
  const baseURL = target.server ?? value('uri');
  if (username === undefined || baseURL === undefined)
    throw new Error(
      `Secret "${secretName}" in namespace "${target.namespace}" does not exist, or lacks username or uri: Mooring writes it, and kubectl mooring status says why it has not yet`,
    );
  const ca = await caFor(api, clusterKey, signal);
  const client = new ServerClient({
    baseURL,
    clock,
    random,
    transport: transport(ca, certified(baseURL, value('uri'))),
  });
  const passwords = [value('password'), value('nextPassword')].filter((password) => password !== undefined);
  for (const [index, password] of passwords.entries()) {
    const session = new Session(client, { username, password });
    try {
      await session.signIn(signal);
      return session;
    } catch (error) {
      // During a replacement, the other password may be right.
      const isRefused = error instanceof ApiError && error.kind === 'unauthorized';
      if (!isRefused || index === passwords.length - 1) throw withHelp(error, baseURL, target);
    }
  }
  throw new Error(`Secret "${secretName}" holds no password yet: its DatabaseUser says why`);
}

/** The host that certificates must name if the server is reached another way: it still presents its own certificate. */
function certified(baseURL: string, published: string | undefined): string | undefined {
  const host = published === undefined ? undefined : URL.parse(published)?.hostname;
  return host === URL.parse(baseURL)?.hostname ? undefined : host;
}

function withHelp(error: unknown, baseURL: string, { server }: ServerTarget): unknown {
  if (!(error instanceof ApiError) || (error.kind !== 'unreachable' && error.kind !== 'lost')) return error;
  const help =
    server === undefined
      ? `If only the Kubernetes cluster can reach ${baseURL}: kubectl port-forward to something there that can, and use --server=https://127.0.0.1:PORT`
      : 'Check --server: is the port still being forwarded?';
  return new Error(`${error.message}\n${help}`, { cause: error });
}

/** The Secret of the user to sign in as, and its cluster. */
async function connectionOf(api: KubeApi, target: ServerTarget, signal: AbortSignal) {
  const { namespace, cluster, user, reach } = target;
  const { items } = await api.list(DATABASE_USERS, { namespace }, signal);
  const named = items
    .map((object) => {
      const item = itemOf(databaseUserDefinition, object);
      return {
        item,
        status: parseStatus(databaseUserDefinition, object.status),
        clusterKey: splitNode(item.parent ?? '').key,
      };
    })
    .filter(({ clusterKey }) => splitKey(clusterKey).name === cluster);
  const here = named.filter(({ clusterKey }) => clusterKey === objectKey(namespace, cluster));
  const users = user === undefined && here.length > 0 ? here : named;
  const bound = users.filter(({ status }) => status.binding !== undefined);
  if (bound.length === 0) {
    const known = users.map(({ item }) => item.metadata.name).join(', ');
    const why =
      known === ''
        ? 'create one, or check name and namespace'
        : `none of ${known} has a Secret yet: kubectl mooring status --namespace ${namespace}${reach} says why`;
    throw new Error(`No DatabaseUser of cluster "${cluster}" in namespace "${namespace}" can sign in: ${why}`);
  }
  const names = bound.map(({ item }) => item.metadata.name).join(', ');
  if (user === undefined && bound.length !== 1)
    throw new Error(
      `Say with --user which DatabaseUser of cluster "${cluster}" to sign in as (those that can: ${names})`,
    );
  const found = user === undefined ? bound[0] : bound.find(({ item }) => item.metadata.name === user);
  if (found?.status.binding === undefined)
    throw new Error(
      `DatabaseUser "${user}" of cluster "${cluster}" has no Secret that works (those that have: ${names})`,
    );
  if (findStatusCondition(found.status.conditions, 'Ready')?.reason === CLUSTER_SUSPENDED) {
    const { kind } = databaseClusterDefinition;
    const resume = commandFor('resume', { kind, metadata: splitKey(found.clusterKey) }, target);
    throw new Error(`DatabaseCluster "${cluster}" is suspended: ${resume}`);
  }
  return { secretName: found.status.binding.name, clusterKey: found.clusterKey };
}

/** The CA bundle of the cluster's space; undefined if the caller may not read these objects. */
async function caFor(api: KubeApi, clusterKey: ObjectKey, signal: AbortSignal): Promise<string | undefined> {
  try {
    const ref = splitKey(clusterKey);
    const object = await api.get(DATABASE_CLUSTERS, ref, signal);
    const parsed = parseSpec(databaseClusterDefinition, object?.spec);
    if (!parsed.ok) return undefined;
    const { spaceRef } = parsed.spec;
    return caOf(await readSpace(api, { namespace: spaceRef.namespace ?? ref.namespace, name: spaceRef.name }, signal));
  } catch {
    return undefined;
  }
}
