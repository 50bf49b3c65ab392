import { ApiError } from '../base/api-error.ts';
import type { Clock } from '../base/clock.ts';
import { ServerClient } from '../database/client.ts';
import { digestOf, schemaDigest } from '../kinds/database/schema-plan.ts';
import type { Login } from '../kinds/secrets.ts';
import { clusterKeyOf } from '../kinds/server/access.ts';
import type { AnyObject } from '../kube/api.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import type { Clouds } from './clouds.ts';
import { databasesOf, type PlannedObject } from './objects.ts';

/*
 * The schemas of the databases, in the copies of their servers: the sources that are as they were applied, run again. Of a
 * source that changed since, nobody has the old text.
 */

/** By Database: digest of the schema that its copy has; absent where there is no server to look at. */
export type CopiedSchemas = ReadonlyMap<ObjectKey, string>;

export async function copySchemas(
  input: { readonly objects: readonly PlannedObject[]; readonly configMaps: readonly AnyObject[] },
  clouds: Clouds,
  clock: Clock,
): Promise<CopiedSchemas> {
  const copied = new Map<ObjectKey, string>();
  for (const database of databasesOf(input.objects)) {
    const { name, appliedSchema = [] } = database.status;
    const { endpoint, login } = clouds.server(clusterKeyOf(database)) ?? {};
    if (name === undefined || endpoint === undefined || login === undefined || appliedSchema.length === 0) continue;
    const applied = new Set(appliedSchema.map(({ hash }) => hash));
    const texts = textsOf(database, input.configMaps).filter((text) => applied.has(digestOf(text)));
    const client = new ServerClient({
      baseURL: endpoint,
      clock,
      random: createSeededRandom(3),
      transport: clouds.transport,
    });
    try {
      copied.set(database.object.key, schemaDigest(await define(client, login, name, texts)));
    } catch (error) {
      // Its cluster has no server in the copy: the space may not be read, or the cloud shows it gone or elsewhere.
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return copied;
}

/** What the simulator does not understand is left out: the copy knows less than a server. Returns the schema. */
async function define(client: ServerClient, login: Login, name: string, texts: readonly string[]): Promise<string> {
  const { token } = await client.signIn(login);
  for (const query of texts) {
    const request = { databaseName: name, transactionType: 'schema', query, commit: true } as const;
    await client.oneShotQuery(token, request).catch(() => undefined);
  }
  return client.getSchema(token, name);
}

/** As they were before the plan, for what is still the same. */
function textsOf(
  { metadata, spec }: ReturnType<typeof databasesOf>[number],
  configMaps: readonly AnyObject[],
): readonly string[] {
  return (spec.schema ?? []).flatMap(({ inline, configMapKeyRef: ref }) => {
    if (inline !== undefined) return [inline];
    const wanted = objectKey(metadata.namespace ?? '', ref?.name ?? '');
    const map = configMaps.find((each) => objectKey(each.metadata.namespace ?? '', each.metadata.name) === wanted);
    const text = ref === undefined ? undefined : dataOf(map)[ref.key];
    return text === undefined ? [] : [text];
  });
}

export function dataOf(map: AnyObject | undefined): Readonly<Record<string, string>> {
  return (map as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data ?? {};
}
