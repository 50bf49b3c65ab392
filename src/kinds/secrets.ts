import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { TerminalError, TransientError } from '../base/errors.ts';
import { GROUP } from '../base/group.ts';
import { type AnyObject, isInvalid, type KubeApi, KubeError, type ObjectRef, SECRETS } from '../kube/api.ts';
import { type ObjectKey, type OwnerReference, objectKey, splitKey } from '../kube/object.ts';
import { secretValues, withoutValues } from '../kube/secret-values.ts';

/** A Secret's contents, for a single use: never kept, never part of an observation. */
export interface SecretContents {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  readonly type: string;
  readonly data: ReadonlyMap<string, string>;
  /** Keys whose value is not UTF-8, so that `data` does not have it as it is. */
  readonly notText: ReadonlySet<string>;
}

export interface NewSecret {
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  /** Default: Opaque. It cannot change later. */
  readonly type?: string;
}

export interface SecretChanges {
  readonly data?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
  readonly annotations?: Readonly<Record<string, string | null>>;
  /** The complete list. */
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

export interface Secrets {
  /** The version last seen, without a request; undefined: there is none. */
  version(namespace: string, name: string): string | undefined;
  /** Its uid, likewise. */
  uid(namespace: string, name: string): string | undefined;
  /** Undefined: there is none. */
  read(namespace: string, name: string, signal: AbortSignal): Promise<SecretContents | undefined>;
  /** Throws AlreadyExists (409) if there is one. Returns the version that was written. */
  create(namespace: string, name: string, secret: NewSecret): Promise<string>;
  /**
   * Sets keys, labels and annotations, and removes those that are null. Throws Conflict (409) if the Secret is not as it was
   * read, and TerminalError SecretImmutable if a person made it immutable. Returns the version that was written.
   */
  patch(namespace: string, name: string, read: SecretContents, changes: SecretChanges): Promise<string>;
  delete(namespace: string, name: string, read: SecretContents): Promise<void>;
  /**
   * Names of the namespace's Secrets that have this finalizer, as last seen. Asks the API server about those in `named` that do
   * not seem to have it, as the cache may be behind.
   */
  keptBy(namespace: string, finalizer: string, named: readonly string[]): Promise<readonly string[]>;
  /** Whether the Secret, as last seen, can be kept: it exists and is not being deleted. */
  canBeKept(namespace: string, name: string): boolean;
  /** Whether the Secret, as last seen, is being deleted: it stays while it has a finalizer. */
  isLeaving(namespace: string, name: string): boolean;
  /**
   * Adds the finalizer, if the Secret is still as it was last seen, or removes it from the Secret as it is now. Throws
   * Conflict (409) if that is already done and the cache is behind.
   */
  keep(namespace: string, name: string, finalizer: string, kept: boolean): Promise<void>;
}

/** Label of our Secrets: the object that they belong to. */
export const OWNER_LABEL = `${GROUP}/cluster`;
/** Likewise, for connection Secrets: the DatabaseUser. */
export const USER_LABEL = `${GROUP}/user`;
/** Annotations of admin Secrets. */
export const ADMIN_ANNOTATIONS = {
  /** The cluster that the login is for: when it was created, and where it is. */
  loginOf: `${GROUP}/login-of`,
  /** Another Secret with a password that the cluster may have been given: an object that comes back to this one looks there, too. */
  movedTo: `${GROUP}/moved-to`,
} as const;
const MAX_LABEL = 63;

/** The label's value for an object: its name, so that it still fits after a restore; for a long name, a part and a digest. */
export function ownerValue(name: string): string {
  if (name.length <= MAX_LABEL) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, MAX_LABEL - digest.length - 1)}-${digest}`;
}

export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'mooring' } as const;

/** The labels of a Secret of ours, for people: `label` with the name of the object that it belongs to, and that it is Mooring's. */
export function labelsInWords(label: string, name: string): string {
  const labels = Object.entries({ [label]: ownerValue(name), ...MANAGED_BY });
  return labels.map(([key, value]) => `${key}=${value}`).join(' and ');
}

/** Says how to find out who changes a Secret, without showing what is in it. */
export function writersInWords(namespace: string, name: string): string {
  return `kubectl get secret ${name} --namespace=${namespace} --output=jsonpath='{.metadata.managedFields}' says who wrote which key, and when`;
}

/** Whether Mooring wrote the Secret, perhaps before it was restored. */
export function isManaged({ labels }: Pick<SecretContents, 'labels'>): boolean {
  const isOf = labels[OWNER_LABEL] !== undefined || labels[USER_LABEL] !== undefined;
  return isOf && Object.entries(MANAGED_BY).every(([name, value]) => labels[name] === value);
}

/** The Secrets as last seen, metadata only. */
export interface SecretCache {
  get(key: ObjectKey): AnyObject | undefined;
  /** Keys of the Secrets that carry the finalizer, which must be one of ours. */
  withFinalizer(finalizer: string): Iterable<ObjectKey>;
  /** Takes in the answer to our own change, so that the next pass sees it. Absent: the next pass asks anyway. */
  applyOwnWrite?(answer: AnyObject): void;
}

export function createSecrets(api: KubeApi, cache: SecretCache): Secrets {
  const lookUp = (key: ObjectKey) => cache.get(key);
  const write = async (ref: ObjectRef, patch: object) => {
    const answer = await api.patch(SECRETS, ref, patch);
    cache.applyOwnWrite?.(answer);
    return answer.metadata.resourceVersion;
  };
  return {
    version: (namespace, name) => lookUp(objectKey(namespace, name))?.metadata.resourceVersion,
    uid: (namespace, name) => lookUp(objectKey(namespace, name))?.metadata.uid,
    read: (namespace, name, signal) => readSecret(api, namespace, name, signal),
    async create(namespace, name, { data, labels, type = 'Opaque', ...more }) {
      const metadata = { name, namespace, labels: { ...MANAGED_BY, ...labels }, ...more };
      const secret = { apiVersion: 'v1', kind: 'Secret', type, metadata, data: encoded(data) };
      return (await api.create(SECRETS, namespace, secret)).metadata.resourceVersion;
    },
    async patch(namespace, name, { resourceVersion, uid, data: before }, { data, ...more }) {
      const changes = data === undefined ? {} : { data: encoded(data) };
      const patch = { metadata: { resourceVersion, uid, ...more }, ...changes };
      try {
        return await write({ namespace, name }, patch);
      } catch (error) {
        if (isOfImmutable(error)) throw immutable(namespace, name);
        throw error instanceof KubeError ? withoutValues(error, secretValues(before)) : error;
      }
    },
    async delete(namespace, name, read) {
      await api.delete(SECRETS, { namespace, name }, { uid: read.uid });
    },
    async keptBy(namespace, finalizer, named) {
      const kept = new Set<string>();
      for (const secret of [...cache.withFinalizer(finalizer)].map(splitKey))
        if (secret.namespace === namespace) kept.add(secret.name);
      for (const name of named) {
        if (kept.has(name)) continue;
        const secret = await api.get(SECRETS, { namespace, name }, undefined, { metadataOnly: true });
        if (isKept(secret, finalizer)) kept.add(name);
      }
      return [...kept].toSorted();
    },
    canBeKept: (namespace, name) => {
      const secret = lookUp(objectKey(namespace, name));
      return secret !== undefined && secret.metadata.deletionTimestamp === undefined;
    },
    isLeaving: (namespace, name) => lookUp(objectKey(namespace, name))?.metadata.deletionTimestamp !== undefined,
    async keep(namespace, name, finalizer, kept) {
      const seen = lookUp(objectKey(namespace, name));
      // When removing, ask the API server: a finalizer that the cache has not seen would stay for ever.
      const secret = kept ? seen : await api.get(SECRETS, { namespace, name }, undefined, { metadataOnly: true });
      if (secret !== undefined && isKept(secret, finalizer) !== kept) {
        const { resourceVersion, finalizers: before = [] } = secret.metadata;
        const finalizers = [...before.filter((other) => other !== finalizer), ...(kept ? [finalizer] : [])];
        await write({ namespace, name }, { metadata: { resourceVersion, finalizers } });
      } else if (isKept(seen, finalizer) !== kept) {
        // An earlier pass did it: the next one should wait until the cache shows it.
        throw new KubeError(`Secret "${name}" has changed since it was last seen`, { status: 409, reason: 'Conflict' });
      }
    },
  };
}

/** The API server's way of saying it: changing the data as a whole is forbidden. */
function isOfImmutable(error: unknown): boolean {
  if (!(error instanceof KubeError) || !isInvalid(error)) return false;
  return error.causes.includes('FieldValueForbidden') && error.fields.some(({ field }) => field === 'data');
}

function immutable(namespace: string, name: string): TerminalError {
  const message = `Secret "${name}" in namespace "${namespace}" is immutable, so no password in it can be replaced: pause this object (annotation ${GROUP}/paused=true), replace the Secret with a copy without "immutable: true", and remove the annotation`;
  return new TerminalError('SecretImmutable', message);
}

function isKept(secret: AnyObject | undefined, finalizer: string): boolean {
  return secret?.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Undefined: there is none. */
export async function readSecret(
  api: KubeApi,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<SecretContents | undefined> {
  const object = await api.get(SECRETS, { namespace, name }, signal);
  return object === undefined ? undefined : contentsOf(object);
}

/**
 * The login in a Secret that a person wrote.
 * Throws TransientError SecretNotFound while there is none, TerminalError SecretKeyMissing when it lacks a key.
 */
export function loginFrom(
  secret: SecretContents | undefined,
  ref: { readonly name: string; readonly usernameKey?: string | undefined; readonly passwordKey?: string | undefined },
  namespace: string,
): Login {
  const keys = [ref.usernameKey ?? 'username', ref.passwordKey ?? 'password'] as const;
  const [username, password] = valuesFrom(secret, ref.name, keys, namespace);
  return { username, password };
}

/** One value for each key of a Secret that a person wrote. Throws as `loginFrom` does, and names all keys that it must have. */
export function valuesFrom<const Keys extends readonly string[]>(
  secret: SecretContents | undefined,
  name: string,
  keys: Keys,
  namespace: string,
): { readonly [Index in keyof Keys]: string } {
  if (secret === undefined) {
    const message = `Secret "${name}" does not exist: create it in namespace "${namespace}", with ${keyWords(keys)}`;
    throw new TransientError('SecretNotFound', message);
  }
  const values = keys.map((key) => secret.data.get(key) ?? '');
  const missing = keys.filter((_key, index) => values[index] === '');
  if (missing.length === 0) return values as unknown as { readonly [Index in keyof Keys]: string };
  const found = [...secret.data.keys()].map((other) => `"${other}"`).join(', ') || 'none';
  const them = missing.length === 1 ? 'it, or name another key' : 'them, or name other keys';
  throw new TerminalError(
    'SecretKeyMissing',
    `Secret "${name}" in namespace "${namespace}" has no value under ${keyWords(missing)} (its keys: ${found}): add ${them} in the reference`,
  );
}

function keyWords(keys: readonly string[]): string {
  const quoted = keys.map((key) => `"${key}"`);
  return quoted.length === 1 ? `key ${quoted.join()}` : `keys ${quoted.join(' and ')}`;
}

function contentsOf(object: AnyObject): SecretContents {
  const { data, type } = object as AnyObject & {
    readonly data?: Readonly<Record<string, string>>;
    readonly type?: string;
  };
  const values = Object.entries(data ?? {}).map(([key, value]) => ({ key, bytes: Buffer.from(value, 'base64') }));
  const { name, uid, resourceVersion, labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  return {
    name,
    uid,
    resourceVersion,
    labels,
    annotations,
    ownerReferences,
    type: type ?? '',
    data: new Map(values.map(({ key, bytes }) => [key, bytes.toString('utf8')])),
    notText: new Set(values.filter(({ bytes }) => !isUtf8(bytes)).map(({ key }) => key)),
  };
}

function encoded(data: Readonly<Record<string, string | null>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
}
