import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { API_VERSION, GROUP } from '../../base/group.ts';
import { splitAddress } from '../../http/address.ts';
import type { ObjectKey, OwnerReference } from '../../kube/object.ts';
import { isForeign, NEXT_ANNOTATIONS } from '../rotation.ts';
import { otherHolder, type SecretHolder } from '../secret-holder.ts';
import {
  ADMIN_ANNOTATIONS,
  type Login,
  MANAGED_BY,
  type NewSecret,
  ownerValue,
  type SecretChanges,
  type SecretContents,
  USER_LABEL,
} from '../secrets.ts';
import type { OpenServer } from '../server/access.ts';
import { type PasswordName, type UserPlace, type UserSubject, usernameOf } from './observation.ts';
import { databaseUserDefinition } from './schema.ts';
import { type FixedKey, NEXT_PASSWORD, render } from './template.ts';

/* The contents of a connection Secret. */

/** As in the Service Binding specification. The type of a Secret cannot change later. */
export const SECRET_TYPE = 'servicebinding.io/database';
const TYPE = 'database';
const PROVIDER = 'mooring';

/** How many bytes of a password a server looks at (compatibility.md). */
const MAX_PASSWORD_BYTES = 72;

/** Annotations of connection Secrets. */
export const SECRET_ANNOTATIONS = {
  /** Changes whenever the contents do, except for nextPassword. Reveals nothing about the password. */
  checksum: `${GROUP}/checksum`,
  passwordChangedAt: `${GROUP}/password-changed-at`,
  /** Keys of the labels and annotations that come from the spec, so that they are removed when the spec drops them. */
  applied: `${GROUP}/applied`,
  nextAnswers: NEXT_ANNOTATIONS.answers,
  nextMark: NEXT_ANNOTATIONS.mark,
  /** Keys of the passwords that a person chose, through passwordSecretRef. */
  own: `${GROUP}/own-password`,
} as const;

const PASSWORD_KEYS = { current: 'password', next: NEXT_PASSWORD } as const;

const PASSWORD_NAMES: readonly PasswordName[] = ['current', 'next'];

/** The passwords in a Secret of ours that a server could take and, for the coming one, may be given. For one use, never kept. */
export interface Passwords {
  readonly current: string | undefined;
  readonly next: string | undefined;
  /** What the coming one answers: see NEXT_ANNOTATIONS. */
  readonly answers?: string | undefined;
  /** See NEXT_ANNOTATIONS; undefined: an earlier version wrote the Secret. */
  readonly mark?: string | undefined;
  /** Which of them a person chose. */
  readonly own?: readonly PasswordName[] | undefined;
}

export function passwordsIn(
  secret: SecretContents | undefined,
  { isFactoryPassword }: Pick<OpenServer, 'isFactoryPassword'>,
  subject: Pick<UserSubject, 'status'>,
): Passwords {
  const under = (key: string) => {
    const value = secret?.data.get(key);
    return value === undefined || secret?.notText.has(key) || refusalOfPassword(value) !== undefined
      ? undefined
      : value;
  };
  const next = under(PASSWORD_KEYS.next);
  const answers = secret?.annotations[SECRET_ANNOTATIONS.nextAnswers];
  const mark = secret?.annotations[SECRET_ANNOTATIONS.nextMark];
  const told = secret?.annotations[SECRET_ANNOTATIONS.own]?.split(',') ?? [];
  const isOwn = { current: secret !== undefined && isOwnAsVerified(subject, secret), next: false };
  const own = PASSWORD_NAMES.filter((name) => told.includes(PASSWORD_KEYS[name]) || isOwn[name]);
  return {
    current: under(PASSWORD_KEYS.current),
    next: next === undefined || isFactoryPassword(next) ? undefined : next,
    ...(answers === undefined ? {} : { answers }),
    ...(mark === undefined ? {} : { mark }),
    ...(own.length === 0 ? {} : { own }),
  };
}

/**
 * Reports whether a Secret without the note, which earlier versions did not write, holds a person's own password: it is unchanged
 * since such a password was verified in it, or no later version has written a password there since.
 */
function isOwnAsVerified(
  { status }: Pick<UserSubject, 'status'>,
  { resourceVersion, annotations }: SecretContents,
): boolean {
  const { sourceResourceVersion, secretResourceVersion } = status.connection ?? {};
  if (sourceResourceVersion === undefined) return false;
  return secretResourceVersion === resourceVersion || annotations[SECRET_ANNOTATIONS.nextMark] === undefined;
}

/**
 * Reports whether somebody else wrote the coming password: it is neither the generated one that was written here, nor a person's own.
 * That its key held a person's own password before says nothing about the one there now.
 */
export function isNextForeign(
  { next: password, mark }: Passwords,
  subject: Pick<UserSubject, 'key' | 'metadata' | 'spec'>,
  memory: { readonly isChosen: (key: ObjectKey, login: Login) => boolean },
): boolean {
  if (password === undefined) return false;
  const login = { username: usernameOf(subject), password };
  return !memory.isChosen(subject.key, login) && isForeign(login, mark);
}

/** Marks the password as one that a person chose, whatever the Secret notes. */
export function withOwn({ own = [], ...passwords }: Passwords): Passwords {
  return { ...passwords, own: [...own, 'current'] };
}

/** Returns why no server could take the password as it is; undefined: one can. */
export function refusalOfPassword(password: string): string | undefined {
  if (password === '') return 'is empty';
  const bytes = Buffer.byteLength(password);
  return bytes > MAX_PASSWORD_BYTES
    ? `has ${bytes} bytes, and a server looks at the first ${MAX_PASSWORD_BYTES} only`
    : undefined;
}

export function isOurSecret({ metadata }: Pick<UserSubject, 'metadata'>, secret: SecretContents): boolean {
  const isTold = secret.labels[USER_LABEL] === ownerValue(metadata.name);
  // The login of a cluster is never a user's, whoever has become the Secret's owner.
  const isOwner =
    !(ADMIN_ANNOTATIONS.loginOf in secret.annotations) &&
    secret.ownerReferences.some(({ uid }) => uid === metadata.uid);
  return isOwner || (isTold && holderOf({ metadata }, secret) === undefined);
}

/** Returns another object that the Secret belongs to. */
export function holderOf(
  { metadata }: Pick<UserSubject, 'metadata'>,
  secret: SecretContents,
): SecretHolder | undefined {
  return otherHolder({ kind: databaseUserDefinition.kind, name: metadata.name }, secret);
}

/** Returns the key of the template whose text has an unknown placeholder; undefined: there is none. */
export function unknownPlaceholder({ spec }: Pick<UserSubject, 'spec'>): string | undefined {
  const blank = fixedValues('', { endpoint: '', address: '', addresses: '' }, '');
  const template = Object.entries(spec.connectionSecret?.template ?? {});
  return template.find(([, text]) => render(text, blank) === undefined)?.[0];
}

type Where = Pick<UserPlace, 'endpoint' | 'address' | 'addresses'>;

function fixedValues(username: string, where: Where, password: string): Record<FixedKey, string> {
  const { endpoint, address, addresses } = where;
  // A host is a name or an IP address (Service Binding): brackets belong to URLs.
  const { host, port = '' } = splitAddress(address) ?? { host: address };
  return { type: TYPE, provider: PROVIDER, host, port, username, password, uri: endpoint, addresses };
}

/** The connection Secret as it should be, apart from what others put onto it. */
export interface WantedSecret {
  readonly data: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owner: OwnerReference;
}

/** `changedAt`: when the password was last changed. */
export function wantedSecret(
  subject: Pick<UserSubject, 'metadata' | 'spec'>,
  where: Where,
  { current, next, answers, mark, own = [] }: Passwords,
  changedAt: string,
): WantedSecret {
  const { metadata, spec } = subject;
  const { labels = {}, annotations = {}, template = {} } = spec.connectionSecret ?? {};
  const values = fixedValues(usernameOf(subject), where, current ?? '');
  const { password: _, ...open } = values;
  // Until there is a password, neither it nor anything made of it is written.
  const needsPassword = (text: string) =>
    render(text, values) !== render(text, { ...values, password: `${values.password}?` });
  const texts = Object.entries(template).filter(([, text]) => current !== undefined || !needsPassword(text));
  const custom = [Object.keys(labels), Object.keys(annotations)] as const;
  const isThere = { current: current !== undefined, next: next !== undefined };
  const ownKeys = PASSWORD_NAMES.filter((name) => own.includes(name) && isThere[name]).map(
    (name) => PASSWORD_KEYS[name],
  );
  const checksum = createHash('sha256').update(
    JSON.stringify([open, template, current === undefined ? '' : changedAt]),
  );
  return {
    data: {
      ...open,
      ...Object.fromEntries(texts.map(([key, text]) => [key, render(text, values) ?? ''])),
      ...(current === undefined ? {} : { password: current }),
      ...(next === undefined ? {} : { [NEXT_PASSWORD]: next }),
    },
    labels: { ...labels, ...MANAGED_BY, [USER_LABEL]: ownerValue(metadata.name) },
    annotations: {
      ...annotations,
      [SECRET_ANNOTATIONS.checksum]: checksum.digest('hex').slice(0, 32),
      ...(current === undefined ? {} : { [SECRET_ANNOTATIONS.passwordChangedAt]: changedAt }),
      ...(next === undefined || answers === undefined ? {} : { [SECRET_ANNOTATIONS.nextAnswers]: answers }),
      ...(mark === undefined ? {} : { [SECRET_ANNOTATIONS.nextMark]: next === undefined ? '' : mark }),
      ...(ownKeys.length === 0 ? {} : { [SECRET_ANNOTATIONS.own]: ownKeys.join(',') }),
      ...(custom.flat().length === 0 ? {} : { [SECRET_ANNOTATIONS.applied]: JSON.stringify(custom) }),
    },
    owner: {
      apiVersion: API_VERSION,
      kind: databaseUserDefinition.kind,
      name: metadata.name,
      uid: metadata.uid,
      controller: true,
    },
  };
}

export function newSecret({ owner, ...wanted }: WantedSecret): NewSecret {
  return { ...wanted, ownerReferences: [owner], type: SECRET_TYPE };
}

/** Returns what makes the Secret as wanted; undefined: it is. Labels, annotations and owners that others have put there stay. */
export function changesTo(secret: SecretContents, wanted: WantedSecret): SecretChanges | undefined {
  const [labelsBefore, annotationsBefore] = appliedTo(secret);
  const data = difference(secret.data, wanted.data, [...secret.data.keys()], secret.notText);
  const labels = difference(asMap(secret.labels), wanted.labels, labelsBefore);
  const annotations = difference(asMap(secret.annotations), wanted.annotations, [
    ...annotationsBefore,
    ...Object.values(SECRET_ANNOTATIONS),
  ]);
  const owners = ownersOf(secret, wanted.owner);
  const changes = {
    ...(data === undefined ? {} : { data }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(owners === undefined ? {} : { ownerReferences: owners }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** `ours`: keys that are removed if they are not wanted. */
function difference(
  found: ReadonlyMap<string, string>,
  wanted: Readonly<Record<string, string>>,
  ours: readonly string[],
  unreadable: ReadonlySet<string> = new Set(),
): Record<string, string | null> | undefined {
  const gone = ours.filter((key) => found.has(key) && wanted[key] === undefined);
  const set = Object.entries(wanted).filter(([key, value]) => found.get(key) !== value || unreadable.has(key));
  if (gone.length === 0 && set.length === 0) return undefined;
  return { ...Object.fromEntries(set), ...Object.fromEntries(gone.map((key) => [key, null])) };
}

function asMap(record: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(record));
}

/** Returns the keys of the labels and of the annotations that came from the spec when the Secret was written. */
function appliedTo({ annotations }: SecretContents): readonly [readonly string[], readonly string[]] {
  const parsed = appliedSchema.safeParse(annotations[SECRET_ANNOTATIONS.applied]);
  return parsed.success ? parsed.data : [[], []];
}

const appliedSchema = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('This is not JSON');
      return z.NEVER;
    }
  })
  .pipe(z.tuple([z.array(z.string()), z.array(z.string())]));

/**
 * Returns the owners to write; undefined: they are right. An owner of the same name is this object before it was restored.
 * Kubernetes accepts only one controller, so one that somebody else has put there stays the only one.
 */
function ownersOf({ ownerReferences }: SecretContents, owner: OwnerReference): readonly OwnerReference[] | undefined {
  const identityOf = ({ apiVersion, kind, name, uid }: OwnerReference) => ({ apiVersion, kind, name, uid });
  const same = ownerReferences.filter(({ kind, name }) => kind === owner.kind && name === owner.name);
  if (same.length === 1 && same.every((each) => isDeepStrictEqual(identityOf(each), identityOf(owner))))
    return undefined;
  const others = ownerReferences.filter((other) => !same.includes(other));
  return [...others, others.some(({ controller }) => controller === true) ? identityOf(owner) : owner];
}
