import { CLUSTER_SPEC } from '../support/specs.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A minimal spec for each kind, which test cases change. */
export const VALID: Readonly<Record<'DatabaseSpace' | 'DatabaseCluster' | 'DatabaseUser' | 'Database', Fields>> = {
  DatabaseSpace: {
    baseURL: 'https://cloud.example.com',
    teamID: 'acme',
    spaceID: 'production',
    apiTokens: [{ level: 'write', secretRef: { name: 'cloud-write' } }],
    defaultCredentialsSecretRef: { name: 'factory-login' },
  },
  DatabaseCluster: CLUSTER_SPEC,
  DatabaseUser: { clusterRef: { name: 'orders' } },
  Database: { clusterRef: { name: 'orders' } },
};

export interface Rejection {
  readonly kind: keyof typeof VALID;
  /** The rule as `field: message`, or the beginning of that. */
  readonly rule: string;
  /** For rules about changes: how the object before differs from VALID. `status`: what the operator wrote since. */
  readonly before?: Fields;
  readonly status?: Fields;
  /** How the sample differs from VALID; undefined removes a field. */
  readonly spec: Fields;
  readonly name?: string;
  /** The only complaint of the API server, as `field: message`. */
  readonly says: string;
}

const OTHER =
  'a cluster keeps what it was created with, so create another DatabaseCluster; if no cluster was created yet, delete this object and apply it again';
const ITSELF = 'this DatabaseSpace: create another DatabaseSpace, and new DatabaseClusters that name it';
const ANYBODYS =
  'clusters of the space are managed, and status.clusters.own does not say how many through this DatabaseSpace: wait until the operator has written it, or create another DatabaseSpace';
const UNLISTED = 'or set allowUnlisted: true if the cloud offers it';
const FREE = { isFree: true, machineType: 'c2d-highcpu-2', storageSizeGB: 10 };
const CLONED = { cloneFrom: { clusterID: 'source' } };
const NEEDED =
  'is needed to deploy a cluster: set it (it may be absent with cloneFrom, adoptionPolicy: MustExist or managementPolicy: Observe)';
const CLUSTER_ID = 'must be lowercase letters and digits, separated by hyphens or underscores, such as orders-eu';
const CLONE_OF_ITSELF =
  'cloneFrom names the very cluster to create, and a cluster cannot be cloned from itself: name another source, or leave cloneFrom out; if this object already exists, delete it first, as cloneFrom cannot change';
const LABEL_KEY =
  'use at most 63 letters, digits, hyphens, underscores and dots, such as team, optionally after a DNS name and a slash, such as example.com/team';
const selecting = (selector: Fields) => ({ allowedNamespaces: { from: 'Selector', selector } });
const SELECTOR = 'selector must be set with from: Selector, and only then: set from to Selector, or remove selector';
export const DURATION =
  'must be a duration such as 720h, 30m or 1h30m; days are not a unit: write 720h for 30d; numbers have five digits at most';

function cluster(rule: string, spec: Fields, says: string, more: Partial<Rejection> = {}): Rejection {
  return { kind: 'DatabaseCluster', rule, spec, says, ...more };
}

function space(rule: string, spec: Fields, says: string, more: Partial<Rejection> = {}): Rejection {
  return { kind: 'DatabaseSpace', rule, spec, says, ...more };
}

function neededToDeploy(field: string): Rejection {
  return cluster(
    `spec.${field}: ${field} is needed`,
    { [field]: undefined },
    `spec.${field}: Required value: ${field} ${NEEDED}`,
  );
}

function kept(field: string): Rejection {
  return cluster(
    `spec.${field}: ${field} cannot be removed`,
    { [field]: undefined, adoptionPolicy: 'MustExist' },
    `spec.${field}: Forbidden: ${field} cannot be removed: a cluster keeps what it was created with`,
    { before: { storageType: 'standard-rwo', ...(field === 'cloneFrom' ? CLONED : {}) } },
  );
}

function unchanged(field: string, from: unknown, to: unknown): Rejection {
  return cluster(
    `spec.${field}: ${field} cannot change`,
    { allowUnlisted: true, [field]: to },
    `spec.${field}: Forbidden: ${field} cannot change from ${from} to ${to}: ${OTHER}`,
    { before: { allowUnlisted: true, [field]: from } },
  );
}

/** At least one sample for each CEL rule in the CustomResourceDefinitions. */
export const REJECTIONS: readonly Rejection[] = [
  ...['provider', 'region', 'machineType', 'storageSizeGB', 'version'].map(neededToDeploy),
  ...['provider', 'region', 'storageType', 'version', 'cloneFrom'].map(kept).map((each) => ({
    ...each,
    spec: { storageType: 'standard-rwo', ...each.spec },
  })),
  unchanged('provider', 'gcp', 'azure'),
  unchanged('region', 'europe-west2', 'europe-west3'),
  unchanged('storageType', 'standard-rwo', 'premium-rwo'),
  unchanged('version', '3.5.0', '3.6.0'),
  unchanged('serverCount', 1, 3),
  {
    ...unchanged('isFree', false, true),
    before: { ...FREE, isFree: false },
    spec: { ...FREE, isFree: true },
  },
  cluster(
    'spec.spaceRef: spaceRef cannot change',
    { spaceRef: { name: 'production', namespace: 'elsewhere' } },
    `spec.spaceRef: Forbidden: spaceRef cannot change: ${OTHER}`,
    { before: {} },
  ),
  cluster(
    'spec.cloneFrom: cloneFrom cannot change',
    { cloneFrom: { clusterID: 'another' } },
    `spec.cloneFrom: Forbidden: cloneFrom cannot change: ${OTHER}`,
    { before: CLONED },
  ),
  cluster(
    'spec.cloneFrom: cloneFrom cannot be added',
    CLONED,
    `spec.cloneFrom: Forbidden: cloneFrom cannot be added: ${OTHER}`,
    {
      before: {},
    },
  ),
  cluster(
    'spec.cloneFrom: cloneFrom needs exactly one',
    { cloneFrom: { clusterID: 'source', clusterRef: { name: 'source' } } },
    'spec.cloneFrom: Invalid value: cloneFrom needs exactly one of clusterRef and clusterID: set one, remove the other',
  ),
  cluster(
    'spec.cloneFrom: cloneFrom needs exactly one',
    { cloneFrom: {} },
    'spec.cloneFrom: Invalid value: cloneFrom needs exactly one of clusterRef and clusterID: set one, remove the other',
  ),
  cluster(
    'spec.cloneFrom.clusterID: must be',
    { cloneFrom: { clusterID: 'Source' } },
    `spec.cloneFrom.clusterID: Invalid value: "Source": ${CLUSTER_ID}`,
  ),
  ...[
    { cloneFrom: { clusterID: 'orders' } },
    { cloneFrom: { clusterRef: { name: 'orders' } }, clusterID: 'orders-eu' },
  ].map((spec) =>
    cluster('spec.cloneFrom: cloneFrom names the very', spec, `spec.cloneFrom: Invalid value: ${CLONE_OF_ITSELF}`, {
      name: 'orders',
    }),
  ),
  cluster(
    'spec.version: version must be latest or a version such as',
    { version: '3.5.0 ' },
    'spec.version: Invalid value: version must be latest or a version such as 3.5.0, in ASCII characters without spaces',
  ),
  ...['Orders', '-orders', 'orders_', 'or ders', 'ördërs', '../orders', 'a.b'].map((clusterID) =>
    cluster('spec.clusterID: must be', { clusterID }, `spec.clusterID: Invalid value: "${clusterID}": ${CLUSTER_ID}`),
  ),
  cluster(
    'spec.clusterID: metadata.name has dots',
    {},
    'spec.clusterID: Required value: metadata.name has dots, which are not allowed in a cluster id: set spec.clusterID',
    { name: 'orders.eu' },
  ),
  cluster(
    ': metadata.name is longer',
    {},
    '<nil>: Invalid value: metadata.name is longer than 63 characters: choose a shorter one, and set spec.clusterID if the id differs',
    { name: 'o'.repeat(64) },
  ),
  cluster(
    'spec.provider: provider is not listed',
    { provider: 'azure' },
    `spec.provider: Invalid value: provider 'azure' is not listed: choose one of gcp, aws, ${UNLISTED}`,
  ),
  cluster(
    'spec.region: region is not offered',
    { region: 'eu-west-2', machineType: 'c7g.large' },
    `spec.region: Invalid value: region 'eu-west-2' is not offered for provider 'gcp': choose one of europe-west2, europe-west3, us-west4, us-east1, ${UNLISTED}`,
  ),
  cluster(
    'spec.machineType: machineType is not offered',
    { provider: 'aws', region: 'eu-west-2', machineType: 'c8g.large' },
    `spec.machineType: Invalid value: machineType 'c8g.large' is not offered for region 'eu-west-2': choose one of c7g.large, c7g.xlarge, c7g.2xlarge, c7g.4xlarge, ${UNLISTED}`,
  ),
  cluster(
    'spec.storageType: storageType is not offered',
    { storageType: 'gp2-csi' },
    `spec.storageType: Invalid value: storageType 'gp2-csi' is not offered for provider 'gcp': choose one of standard-rwo, ${UNLISTED}`,
  ),
  cluster(
    'spec.serverCount: serverCount must be an odd number',
    { serverCount: 2, version: '2.29.1' },
    'spec.serverCount: Invalid value: 2: serverCount must be an odd number from 1 to 9',
  ),
  ...['3.0.0', '3.5.0', '10.1.0', 'latest'].map((version) =>
    cluster(
      'spec.serverCount: from version 3.0 on',
      { serverCount: 3, version },
      `spec.serverCount: Invalid value: serverCount 3 is not possible with version '${version}': set 1, ${UNLISTED}`,
    ),
  ),
  cluster(
    'spec.machineType: a free cluster',
    { ...FREE, machineType: 'c2d-highcpu-4' },
    `spec.machineType: Invalid value: machineType 'c2d-highcpu-4' is not free: choose one of c2d-highcpu-2, c7g.large, c8g.large for a cluster with isFree: true, ${UNLISTED}`,
  ),
  cluster(
    'spec.serverCount: a free cluster',
    { ...FREE, serverCount: 3, version: '2.29.1' },
    'spec.serverCount: Invalid value: serverCount 3 is not possible with isFree: true: set 1',
  ),
  cluster(
    'spec.storageSizeGB: a free cluster',
    { ...FREE, storageSizeGB: 11 },
    'spec.storageSizeGB: Invalid value: storageSizeGB 11 is not possible with isFree: true: set 10',
  ),
  cluster(
    'spec.backup.frequency: a free cluster',
    { ...FREE, backup: { frequency: 'daily' } },
    "spec.backup.frequency: Invalid value: backup.frequency 'daily' is not possible with isFree: true: set disabled, or remove backup",
  ),
  cluster(
    'spec.backup.retentionDays: retentionDays must be',
    { backup: { frequency: 'daily', retentionDays: 14 } },
    'spec.backup.retentionDays: Invalid value: 14: retentionDays must be 7 or 30',
  ),
  cluster(
    'spec.adminCredentials.rotateEvery: rotateEvery must be at least',
    { adminCredentials: { rotateEvery: '9m59s' } },
    'spec.adminCredentials.rotateEvery: Invalid value: "9m59s": rotateEvery must be at least 10m',
  ),
  cluster(
    'spec.adminCredentials.rotateEvery: rotateEvery must be a duration',
    { adminCredentials: { rotateEvery: '90d' } },
    `spec.adminCredentials.rotateEvery: Invalid value: "90d": rotateEvery ${DURATION}`,
  ),
  ...[{ secretName: 'mine', existingSecretRef: { name: 'mine' } }, { existingSecretRef: { name: 'orders-admin' } }].map(
    (adminCredentials) =>
      cluster(
        'spec.adminCredentials.existingSecretRef.name: existingSecretRef names',
        { adminCredentials },
        'spec.adminCredentials.existingSecretRef.name: Invalid value: existingSecretRef names the Secret that the operator writes (secretName, by default <name>-admin): name another Secret in one of the two',
        { name: 'orders' },
      ),
  ),
  cluster(
    'spec.allowedNamespaces.selector: selector must',
    { allowedNamespaces: { from: 'Selector' } },
    `spec.allowedNamespaces.selector: Invalid value: ${SELECTOR}`,
  ),
  ...[
    ...['In', 'NotIn'].flatMap((operator) => [{ operator }, { operator, values: [] }]),
    ...['Exists', 'DoesNotExist'].map((operator) => ({ operator, values: ['shop'] })),
  ].flatMap((requirement) =>
    [cluster, space].map((of) =>
      of(
        'spec.allowedNamespaces.selector.matchExpressions[].values: values must',
        { allowedNamespaces: { from: 'Selector', selector: { matchExpressions: [{ key: 'team', ...requirement }] } } },
        `spec.allowedNamespaces.selector.matchExpressions[0].values: Invalid value: values must be set with operator In or NotIn, and only then: add a value, or remove values`,
      ),
    ),
  ),
  ...[cluster, space].flatMap((of) => [
    of(
      'spec.allowedNamespaces.selector.matchLabels: matchLabels has a key',
      selecting({ matchLabels: { 'a b': 'c' } }),
      `spec.allowedNamespaces.selector.matchLabels: Invalid value: matchLabels has a key that Kubernetes does not accept: ${LABEL_KEY}`,
    ),
    of(
      'spec.allowedNamespaces.selector.matchExpressions[].key: key is not',
      selecting({ matchExpressions: [{ key: 'a b', operator: 'DoesNotExist' }] }),
      `spec.allowedNamespaces.selector.matchExpressions[0].key: Invalid value: "a b": key is not a valid label key: ${LABEL_KEY}`,
    ),
  ]),
  space(
    'spec.allowedNamespaces.selector: selector must',
    { allowedNamespaces: { from: 'All', selector: { matchLabels: { a: 'b' } } } },
    `spec.allowedNamespaces.selector: Invalid value: ${SELECTOR}`,
  ),
  ...[
    'ftp://cloud.example.com',
    'cloud.example.com',
    'https://cloud.example.com/?a=b',
    'https://cloud.example.com/#a',
    'https://a b',
  ].map((baseURL) =>
    space(
      'spec.baseURL: baseURL must',
      { baseURL },
      `spec.baseURL: Invalid value: "${baseURL}": baseURL must be an http or https URL without user information, query or fragment, such as https://cloud.example.com`,
    ),
  ),
  space(
    'spec.baseURL: baseURL must',
    { baseURL: 'https://user@cloud.example.com' },
    'spec.baseURL: Invalid value: "https://user@cloud.example.com": baseURL must be an http or https URL without user information, query or fragment, such as https://cloud.example.com',
  ),
  ...['https://db.example.com', '{host}:{port}', 'https://{host}:{port}?a=b', 'https://user@{host}'].map((serverURL) =>
    space(
      'spec.serverURL: serverURL must',
      { serverURL },
      `spec.serverURL: Invalid value: "${serverURL}": serverURL must be an http or https URL with {host} in it, without user information, query or fragment, such as https://{host}:{port}`,
    ),
  ),
  ...['https://{host}:{prot}', 'https://{host}:{host}'].map((serverURL) =>
    space(
      'spec.serverURL: serverURL must be a URL',
      { serverURL },
      `spec.serverURL: Invalid value: "${serverURL}": serverURL must be a URL when {host} and {port} are replaced by a host and a port, and hold no other braces, such as https://{host}:{port}`,
    ),
  ),
  ...[
    ['teamID', '..', 'acme'],
    ['spaceID', 'a/b', 'production'],
  ].map(([field = '', value, example]) =>
    space(
      `spec.${field}: must be an id`,
      { [field]: value },
      `spec.${field}: Invalid value: "${value}": must be an id as the cloud shows it, without spaces, /, ?, # or %, such as ${example}`,
    ),
  ),
  ...[
    { field: 'teamID', managed: 3, own: 2, words: `there are 2 clusters of DatabaseClusters that name ${ITSELF}` },
    { field: 'spaceID', managed: 3, own: 2, words: `there are 2 clusters of DatabaseClusters that name ${ITSELF}` },
    { field: 'spaceID', managed: 3, own: 1, words: `there is 1 cluster of a DatabaseCluster that names ${ITSELF}` },
    { field: 'teamID', managed: 3, words: ANYBODYS },
    { field: 'spaceID', managed: 1, words: ANYBODYS },
  ].map(({ field, words, ...counts }) =>
    space(
      `spec.${field}: ${field} can change only`,
      { [field]: 'other' },
      `spec.${field}: Forbidden: ${field} cannot change from '${VALID.DatabaseSpace[field]}' to 'other' while ${words}`,
      { before: {}, status: { clusters: { total: 5, ...counts } } },
    ),
  ),
  space(
    'spec.pollInterval: pollInterval must be at least',
    { pollInterval: '0s' },
    'spec.pollInterval: Invalid value: "0s": pollInterval must be at least 1s',
  ),
  space(
    'spec.verifyInterval: verifyInterval must be at least',
    { verifyInterval: '999ms' },
    'spec.verifyInterval: Invalid value: "999ms": verifyInterval must be at least 1s, or 0s',
  ),
  ...['a week', '10', '', '99999999h', '1.5h', '-1s'].map((pollInterval) =>
    space(
      'spec.pollInterval: pollInterval must be a duration',
      { pollInterval },
      `spec.pollInterval: Invalid value: "${pollInterval}": pollInterval ${DURATION}`,
    ),
  ),
  space(
    'spec.verifyInterval: verifyInterval must be a duration',
    { verifyInterval: '1d' },
    `spec.verifyInterval: Invalid value: "1d": verifyInterval ${DURATION}`,
  ),
];
