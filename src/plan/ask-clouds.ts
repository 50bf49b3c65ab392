import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../base/errors.ts';
import type { Cluster } from '../cloud/schema.ts';
import { refusalOfURL, type UrlPolicy } from '../kinds/databasespace/connection/url-policy.ts';
import { placeOf } from '../kinds/databasespace/place.ts';
import type { DatabaseSpaceSpec } from '../kinds/databasespace/schema.ts';
import { SECRETS } from '../kube/api.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';
import { cloudOf, type SpaceDependencies } from '../plugin/space.ts';
import { type Document, type Manifest, manifestsOf } from './manifests.ts';
import { type PlannedObject, type PlannedSpace, spacesOf } from './objects.ts';
import { isClear } from './policy.ts';

interface Given {
  readonly namespace: string;
  readonly objects: readonly PlannedObject[];
  readonly documents: readonly Document[];
  /** What the operator may connect to. */
  readonly policy: UrlPolicy;
}

/**
 * What the clouds themselves list, if they may be asked. Otherwise the objects' statuses are used, and a note says so. Files may
 * come from anybody who can propose a change, so they must not decide who is sent the tokens that are in the cluster.
 */
export async function askClouds(dependencies: SpaceDependencies, given: Given, signal: AbortSignal) {
  const listed = new Map<ObjectKey, readonly Cluster[]>();
  const notes: string[] = [];
  for (const space of spacesOf(given.objects)) {
    const { object, metadata, next } = space;
    const namespace = metadata.namespace ?? '';
    const cloud = `The cloud of DatabaseSpace ${object.key}, at ${next.baseURL},`;
    const onlyInFiles = newIn(space);
    const written = onlyInFiles === undefined ? undefined : secretsInFiles(namespace, next, given);
    const refusal = (written === undefined ? onlyInFiles : undefined) ?? refusalOf(next.baseURL, given.policy);
    if (refusal !== undefined) {
      notes.push(`${cloud} was not asked, so the plan uses the statuses of its objects: ${refusal}`);
      continue;
    }
    try {
      const api = written === undefined ? dependencies.api : onlyWith(dependencies.api, written);
      const client = await cloudOf({ ...dependencies, api }, namespace, next, signal);
      listed.set(object.key, await client.list(signal));
    } catch (error) {
      const why = messageOf(error).trim();
      notes.push(`${cloud} could not be asked, so the plan uses the statuses of its objects: ${why}`);
    }
  }
  return { listed, notes };
}

/** People make plans anywhere, so a plan sends nothing in clear text, even if the operator may. */
function refusalOf(baseURL: string, policy: UrlPolicy): string | undefined {
  return refusalOfURL(baseURL, policy) ?? (isClear(baseURL) ? 'a plan sends no API token by http' : undefined);
}

/** Why the place and tokens are not those of the object in the cluster; undefined: they are. */
function newIn({ object, spec, next }: PlannedSpace): string | undefined {
  if (object.live === undefined) return 'the object is only in the files';
  const [was, is] = [spec, next].map(whatDecides);
  const changed = Object.entries(is ?? {}).filter(([field, value]) => !isDeepStrictEqual(value, was?.[field]));
  if (changed.length === 0) return undefined;
  return `the files change ${changed.map(([field]) => field).join(', ')}`;
}

/** What decides which tokens are sent, and who receives them. */
function whatDecides(spec: DatabaseSpaceSpec): Readonly<Record<string, unknown>> {
  const { apiTokens, caBundle } = spec;
  return { ...placeOf(spec), caBundle, apiTokens };
}

/** The Secrets in the files; undefined: not all of the space's tokens are in them. */
function secretsInFiles(
  namespace: string,
  { apiTokens }: DatabaseSpaceSpec,
  given: Given,
): ReadonlyMap<ObjectKey, Manifest> | undefined {
  const found = manifestsOf(SECRETS, given);
  return apiTokens.every(({ secretRef }) => found.has(objectKey(namespace, secretRef.name))) ? found : undefined;
}

/** Reads Secrets from the files only: one of the same name in the cluster holds somebody else's token. */
function onlyWith(api: SpaceDependencies['api'], written: ReadonlyMap<ObjectKey, Manifest>): SpaceDependencies['api'] {
  const secrets = new Map([...written].map(([key, manifest]) => [key, asStored(manifest)]));
  return Object.assign(Object.create(api) as SpaceDependencies['api'], {
    get: async (_: unknown, ref: { readonly namespace?: string; readonly name: string }) =>
      secrets.get(objectKey(ref.namespace ?? '', ref.name)),
  });
}

/** In a file, a field may also be null. */
function asStored({ metadata, data, stringData, type }: Manifest) {
  const encoded = Object.entries(stringData ?? {}).map(([key, text]) => [
    key,
    Buffer.from(String(text ?? '')).toString('base64'),
  ]);
  return {
    metadata: { ...metadata, uid: '', resourceVersion: '' },
    type: type ?? 'Opaque',
    data: { ...data, ...Object.fromEntries(encoded) },
  };
}
