import { DURATION, type Rejection } from './samples.ts';

/* Samples for the rules of users and databases. */

type Fields = Readonly<Record<string, unknown>>;

function user(rule: string, spec: Fields, says: string, more: Partial<Rejection> = {}): Rejection {
  return { kind: 'DatabaseUser', rule, spec, says, ...more };
}

/** Samples for a kind whose name on the server is `field`, by default the object's name. */
function named(kind: 'DatabaseUser' | 'Database', field: string, example: string): readonly Rejection[] {
  const remedy = `a ${kind} keeps the name it was created with, so create another ${kind}`;
  const path = `spec.${field}`;
  const syntax = `must begin with a letter or underscore, followed by letters, digits, underscores and hyphens, such as ${example}`;
  const needed = 'metadata.name begins with a digit or has dots, which is not allowed in a name on the server';
  return [
    ...['1st', 'orders.eu', 'a b', 'a/b', '-a'].map((value) => ({
      kind,
      rule: `${path}: must begin`,
      spec: { [field]: value },
      says: `${path}: Invalid value: "${value}": ${syntax}`,
    })),
    ...['orders.eu', '1st'].map((name) => ({
      kind,
      rule: `${path}: metadata.name begins`,
      spec: {},
      name,
      says: `${path}: Required value: ${needed}: set ${path}`,
    })),
    {
      kind,
      rule: `${path}: ${field} cannot change`,
      before: { [field]: 'orders' },
      spec: { [field]: 'other' },
      says: `${path}: Forbidden: ${field} cannot change from orders to other: ${remedy}`,
    },
    {
      kind,
      rule: `${path}: ${field} cannot be removed`,
      before: { [field]: 'orders' },
      spec: {},
      says: `${path}: Forbidden: ${field} cannot be removed: ${remedy}`,
    },
    {
      kind,
      rule: `${path}: ${field} cannot be added`,
      before: {},
      spec: { [field]: 'orders' },
      says: `${path}: Forbidden: ${field} cannot be added: ${remedy}`,
    },
    {
      kind,
      rule: 'spec.clusterRef: clusterRef cannot change',
      before: {},
      spec: { clusterRef: { name: 'orders', namespace: 'elsewhere' } },
      says: 'spec.clusterRef: Forbidden: clusterRef cannot change: an object cannot move from one cluster to another, so create another object',
    },
  ];
}

const template = (texts: Fields) => ({ connectionSecret: { template: texts } });
const TEMPLATE = 'spec.connectionSecret.template';
const KEYS =
  'template has a key that a Secret cannot have: use letters, digits, dots, underscores and hyphens, and do not begin with two dots';
const FIXED =
  'template must not name type, provider, host, port, username, password, uri, addresses or nextPassword: every connection Secret has these keys';
const PLACEHOLDER =
  'template has an unknown placeholder: use {{ name }} or {{ name | urlencode }} with one of type, provider, host, port, username, password, uri, addresses';

export const SERVER_REJECTIONS: readonly Rejection[] = [
  ...named('DatabaseUser', 'username', 'app'),
  ...named('Database', 'name', 'orders'),
  ...[{}, { inline: 'define', configMapKeyRef: { name: 'a', key: 'b' } }].map(
    (source): Rejection => ({
      kind: 'Database',
      rule: 'spec.schema[]: a schema source needs',
      spec: { schema: [source] },
      says: 'spec.schema[0]: Invalid value: a schema source needs exactly one of configMapKeyRef and inline: set one, remove the other',
    }),
  ),
  user(
    'spec.rotateEvery: rotateEvery is for',
    { rotateEvery: '720h', passwordSecretRef: { name: 'mine' } },
    'spec.rotateEvery: Invalid value: rotateEvery is for generated passwords: remove it, or remove passwordSecretRef',
  ),
  ...[
    { name: 'app', spec: { passwordSecretRef: { name: 'app-connection' } } },
    { spec: { passwordSecretRef: { name: 'mine', key: 'other' }, connectionSecret: { name: 'mine' } } },
  ].flatMap(({ spec, ...named }) =>
    [{}, { before: {}, status: { observedGeneration: 1 } }].map((more) =>
      user(
        'spec.passwordSecretRef.name: passwordSecretRef names',
        spec,
        'spec.passwordSecretRef.name: Invalid value: passwordSecretRef names the Secret that the operator writes (connectionSecret.name, by default <name>-connection): name another Secret in one of the two',
        { ...named, ...more },
      ),
    ),
  ),
  user(
    'spec.rotateEvery: rotateEvery must be at least',
    { rotateEvery: '9m' },
    'spec.rotateEvery: Invalid value: "9m": rotateEvery must be at least 10m',
  ),
  user(
    'spec.rotateEvery: rotateEvery must be a duration',
    { rotateEvery: '30d' },
    `spec.rotateEvery: Invalid value: "30d": rotateEvery ${DURATION}`,
  ),
  ...['labels', 'annotations'].flatMap((field) =>
    ['mooring.dev/user', 'app.kubernetes.io/managed-by'].map((key) =>
      user(
        `spec.connectionSecret.${field}: ${field} must not`,
        { connectionSecret: { [field]: { [key]: 'x' } } },
        `spec.connectionSecret.${field}: Invalid value: ${field} must not have app.kubernetes.io/managed-by or a key that begins with mooring.dev/: the operator sets these itself`,
      ),
    ),
  ),
  ...[
    ...['bad key', '', 'a/b/c', '/a', 'a/', 'Example.com/a', '-a', 'a'.repeat(64), `${'a'.repeat(254)}/a`].map(
      (key) => ['labels', key] as const,
    ),
    ...['a/b/c', '', 'a b'].map((key) => ['annotations', key] as const),
  ].map(([field, key]) =>
    user(
      `spec.connectionSecret.${field}: ${field} has a key`,
      { connectionSecret: { [field]: { [key]: 'x' } } },
      `spec.connectionSecret.${field}: Invalid value: ${field} has a key that Kubernetes does not accept: use at most 63 letters, digits, hyphens, underscores and dots, such as team, optionally after a DNS name and a slash, such as example.com/team`,
    ),
  ),
  ...['a b', '', '.', '..', '..data', 'a'.repeat(254)].map((key) =>
    user(`${TEMPLATE}: template has a key`, template({ [key]: 'x' }), `${TEMPLATE}: Invalid value: ${KEYS}`),
  ),
  user(`${TEMPLATE}: template must not`, template({ password: 'x' }), `${TEMPLATE}: Invalid value: ${FIXED}`),
  ...['{{ secret }}', '{{ password | sh }}', '{{password'].map((text) =>
    user(
      `${TEMPLATE}: template has an unknown placeholder`,
      template({ A: text }),
      `${TEMPLATE}: Invalid value: ${PLACEHOLDER}`,
    ),
  ),
];
