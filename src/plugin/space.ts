import type { Clock } from '../base/clock.ts';
import { didYouMean } from '../base/nearest.ts';
import type { Random } from '../base/random.ts';
import type { HttpTransport } from '../base/transport.ts';
import { CloudClient } from '../cloud/client.ts';
import { caOf } from '../kinds/databasespace/connection/ca-bundle.ts';
import { credentialsFrom } from '../kinds/databasespace/connection/credentials.ts';
import { DATABASE_SPACES } from '../kinds/databasespace/resource.ts';
import { type DatabaseSpaceSpec, databaseSpaceDefinition } from '../kinds/databasespace/schema.ts';
import { readSecret } from '../kinds/secrets.ts';
import type { KubeApi } from '../kube/api.ts';
import { parseSpec } from '../kube/definition.ts';
import { namesIn } from './inventory.ts';

export interface SpaceDependencies {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly random: Random;
  /** `ca`: PEM to trust besides the system's. `serverName`: the name that certificates must have, if not the URL's host. */
  readonly transport: (ca: string | undefined, serverName?: string) => HttpTransport;
}

/** The spec of a DatabaseSpace. If it does not exist or cannot be read, throws an Error that says what to do. */
export async function readSpace(
  api: KubeApi,
  ref: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<DatabaseSpaceSpec> {
  const object = await api.get(DATABASE_SPACES, ref, signal);
  if (object === undefined) {
    const names = await namesIn(api, databaseSpaceDefinition, ref.namespace, signal);
    const meant = didYouMean(ref.name, names, (name) => `"${name}"`);
    const none = `DatabaseSpace "${ref.name}" in namespace "${ref.namespace}" does not exist: check its name and --namespace`;
    throw new Error(meant === '' ? none : `${none}.${meant}`);
  }
  const parsed = parseSpec(databaseSpaceDefinition, object.spec);
  if (!parsed.ok) throw new Error(`DatabaseSpace "${ref.name}" cannot be used: ${parsed.message}`);
  return parsed.spec;
}

/** A client of the space's cloud, with the tokens that the caller may read. */
export async function cloudOf(
  { api, clock, random, transport }: SpaceDependencies,
  namespace: string,
  spec: DatabaseSpaceSpec,
  signal: AbortSignal,
): Promise<CloudClient> {
  const names = new Set(spec.apiTokens.map(({ secretRef }) => secretRef.name));
  const contents = new Map(
    await Promise.all([...names].map(async (name) => [name, await readSecret(api, namespace, name, signal)] as const)),
  );
  const { baseURL, teamID, spaceID } = spec;
  const credentials = credentialsFrom(spec, contents, namespace);
  return new CloudClient({ baseURL, teamID, spaceID, credentials, clock, random, transport: transport(caOf(spec)) });
}
