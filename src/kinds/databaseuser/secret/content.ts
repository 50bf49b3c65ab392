import { createHash } from 'node:crypto';
import { API_VERSION } from '../../../base/group.ts';
import { splitAddress } from '../../../http/address.ts';
import type { OwnerReference } from '../../../kube/object.ts';
import { MANAGED_BY, type NewSecret, ownerValue, type SecretContents, USER_LABEL } from '../../secrets.ts';
import { type UserPlace, type UserSubject, usernameOf } from '../observation.ts';
import { databaseUserDefinition } from '../schema.ts';
import { SECRET_ANNOTATIONS } from './annotations.ts';
import { PASSWORD_KEYS, PASSWORD_NAMES, type Passwords } from './passwords.ts';
import { type FixedKey, NEXT_PASSWORD, render } from './template.ts';

/* What a connection Secret should contain. */

/** As in the Service Binding specification. The type of a Secret cannot change later. */
export const SECRET_TYPE = 'servicebinding.io/database';
const TYPE = 'database';
const PROVIDER = 'mooring';

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

/** When the password was last changed; `rotation`: the `recordOf` that, if it was in place of another one. */
export interface LastChange {
  readonly at: string;
  readonly rotation?: string | undefined;
}

/** As the Secret says; if it does not, it was now. */
export function lastChangeOf(secret: SecretContents | undefined, nowMs: number): LastChange {
  const { [SECRET_ANNOTATIONS.passwordChangedAt]: at, [SECRET_ANNOTATIONS.rotation]: rotation } =
    secret?.annotations ?? {};
  return { at: at ?? new Date(nowMs).toISOString(), rotation };
}

export function wantedSecret(
  subject: Pick<UserSubject, 'metadata' | 'spec'>,
  where: Where,
  { current, next, answers, mark, own = [] }: Passwords,
  lastChange: LastChange,
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
    JSON.stringify([open, template, current === undefined ? '' : lastChange.at]),
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
      ...(current === undefined ? {} : { [SECRET_ANNOTATIONS.passwordChangedAt]: lastChange.at }),
      ...(lastChange.rotation === undefined ? {} : { [SECRET_ANNOTATIONS.rotation]: lastChange.rotation }),
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
