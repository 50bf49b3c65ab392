import { recordOf } from '../base/is-record.ts';
import { adminSecretName } from '../kinds/databasecluster/identity.ts';
import { connectionSecretName } from '../kinds/databaseuser/observation.ts';
import { readSecret, type SecretContents } from '../kinds/secrets.ts';
import { type KubeApi, KubeError, SECRETS } from '../kube/api.ts';
import { type ObjectKey, objectKey, splitKey } from '../kube/object.ts';
import { unlessForbidden } from '../kube/unless-forbidden.ts';
import { lastApplied } from './applier.ts';
import { type Document, type Manifest, manifestsOf } from './manifests.ts';
import { clustersOf, type PlannedObject, spacesOf, usersOf } from './objects.ts';

/** What a plan needs to know of a Secret that an object names: nothing secret. */
export interface SeenSecret extends Pick<SecretContents, 'labels' | 'annotations' | 'ownerReferences' | 'type'> {
  /** The keys that have a value. */
  readonly keys: ReadonlySet<string>;
}

/** By Secret; undefined: it does not exist. A missing entry: the caller may not read it, so nothing is known. */
export type SeenSecrets = ReadonlyMap<ObjectKey, SeenSecret | undefined>;

/** The Secrets that the operator would read for the objects. */
export function secretsOf(objects: readonly PlannedObject[]): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  const add = ({ namespace = '' }: { readonly namespace?: string }, ...names: readonly (string | undefined)[]) => {
    for (const name of names) if (name !== undefined) keys.add(objectKey(namespace, name));
  };
  for (const { metadata, next } of spacesOf(objects))
    add(metadata, ...next.apiTokens.map(({ secretRef }) => secretRef.name), next.defaultCredentialsSecretRef.name);
  for (const { metadata, spec, next, status } of clustersOf(objects)) {
    const names = [spec, next].map((each) => adminSecretName({ metadata, spec: each }));
    add(metadata, ...names, status.credentials?.secretName, next.adminCredentials?.existingSecretRef?.name);
  }
  for (const { metadata, next, status } of usersOf(objects)) {
    const { binding, connection } = status;
    const own = connectionSecretName({ metadata, spec: next });
    add(metadata, own, binding?.name, connection?.secretName, next.passwordSecretRef?.name);
  }
  return keys;
}

/** Prefers Secrets in the manifests to those in the cluster. No value that was read is kept. */
export async function readSecrets(
  api: KubeApi,
  given: { readonly namespace: string; readonly documents: readonly Document[] },
  objects: readonly PlannedObject[],
  notes: string[],
  signal: AbortSignal,
): Promise<SeenSecrets> {
  const written = manifestsOf(SECRETS, given);
  const seen = new Map<ObjectKey, SeenSecret | undefined>();
  const refused = new Set<string>();
  const changed: string[] = [];
  await Promise.all(
    [...secretsOf(objects)].map(async (key) => {
      const { namespace, name } = splitKey(key);
      const manifest = written.get(key);
      const there = await unlessForbidden(readSecret(api, namespace, name, signal));
      const known = there instanceof KubeError ? undefined : there;
      if (manifest !== undefined) {
        seen.set(key, ofManifest(manifest, known));
        if (known !== undefined) changed.push(...changesOf(key, manifest, known));
      } else if (there instanceof KubeError) refused.add(namespace);
      else seen.set(key, withoutValues(there));
    }),
  );
  for (const namespace of [...refused].toSorted())
    notes.push(
      `You may not read Secrets in namespace ${namespace} (get secrets): those that objects name are assumed to exist, with logins that work`,
    );
  notes.push(...changed.toSorted());
  return seen;
}

/** Reported because the plan's copy has values of its own: it does not see a new password or token. */
function changesOf(key: ObjectKey, { data, stringData }: Manifest, there: SecretContents): readonly string[] {
  const decoded = Object.entries(data ?? {}).map(
    ([name, value]) => [name, Buffer.from(String(value ?? ''), 'base64').toString()] as const,
  );
  const values = new Map([...decoded, ...Object.entries(stringData ?? {})]);
  const names = [...values].filter(([name, value]) => there.data.get(name) !== value).map(([name]) => name);
  if (names.length === 0) return [];
  return [
    `Secret ${key} in the files differs from the one in the cluster (${names.join(', ')}): what follows from that, such as a new password on a server, is not in this plan`,
  ];
}

function withoutValues(secret: SecretContents | undefined): SeenSecret | undefined {
  if (secret === undefined) return undefined;
  const { labels, annotations, ownerReferences, type, data } = secret;
  const keys = new Set([...data].filter(([, value]) => value !== '').map(([key]) => key));
  return { labels, annotations, ownerReferences, type, keys };
}

/** In a file, a field may also be null. What others have put into the one that is there stays. */
function ofManifest(
  { type, metadata: { labels, annotations }, data, stringData }: Manifest,
  there: SecretContents | undefined,
): SeenSecret {
  const written = { ...data, ...stringData };
  const before = withoutValues(there);
  const applied = appliedKeys(before ?? { annotations: {} });
  const kept = [...(before?.keys ?? [])].filter((key) => !Object.hasOwn(written, key) && !applied.has(key));
  const filled = Object.entries(written).flatMap(([key, value]) => (value ? [key] : []));
  return {
    labels: { ...before?.labels, ...labels },
    annotations: { ...before?.annotations, ...annotations },
    ownerReferences: before?.ownerReferences ?? [],
    type: type ?? before?.type ?? 'Opaque',
    keys: new Set([...kept, ...filled]),
  };
}

/** The keys that kubectl has put there, and takes away if they are no longer in the file. */
function appliedKeys({ annotations }: Pick<SecretContents, 'annotations'>): ReadonlySet<string> {
  const { data, stringData } = lastApplied({ annotations }) ?? {};
  return new Set([...Object.keys(recordOf(data)), ...Object.keys(recordOf(stringData))]);
}
