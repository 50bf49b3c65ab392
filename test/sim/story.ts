import fc from 'fast-check';
import { databaseDefinition } from '../../src/kinds/database/schema.ts';
import { databaseClusterDefinition } from '../../src/kinds/databasecluster/schema.ts';
import { databaseSpaceDefinition } from '../../src/kinds/databasespace/schema.ts';
import { databaseUserDefinition } from '../../src/kinds/databaseuser/schema.ts';
import { type Resource, SECRETS } from '../../src/kube/api.ts';
import type { ResourceDefinition } from '../../src/kube/definition.ts';
import type { Dialect } from '../../src/simulator/dialect.ts';
import { arbitraryChange } from '../support/arbitrary-spec.ts';
import type { Fault } from './faults.ts';
import { CLUSTERS, DATABASES, SPACES, USERS } from './view.ts';

/* Stories: what people may do with a handful of objects in any order, and what may go wrong meanwhile. A seed stands for one. */

export type Fields = Readonly<Record<string, unknown>>;
export type Plural = 'databasespaces' | 'databaseclusters' | 'databaseusers' | 'databases' | 'secrets';

/** What others do to a cluster in the cloud. */
const IN_THE_CLOUD = [
  'deploy',
  'replace',
  'rename',
  'swap',
  'resize',
  'grow',
  'move',
  'restart',
  'suspend',
  'resume',
  'destroy',
  'vanish',
] as const;
/** What others do on its server, to a user or database of that name: `setPassword` also makes the user. */
const ON_A_SERVER = ['setPassword', 'deleteUser', 'createDatabase', 'dropDatabase'] as const;

/**
 * What people and other controllers do to an object: delete and create it again, remove its finalizers, add one, or accept the cluster
 * that has its id now as its own.
 */
const TO_AN_OBJECT = ['recreate', 'unhold', 'meddle', 'accept'] as const;

interface ToAnObject {
  readonly of: Plural;
  readonly name: string;
}
export type Specify = ToAnObject & { readonly do: 'create' | 'edit'; readonly spec: Fields };
export type Handle = ToAnObject & { readonly do: (typeof TO_AN_OBJECT)[number] };
export type InTheCloud = { readonly do: (typeof IN_THE_CLOUD)[number]; readonly id: string };
export type OnAServer = { readonly do: (typeof ON_A_SERVER)[number]; readonly id: string; readonly target: string };
/** Gives a Secret of people's another password. */
export type Renew = { readonly do: 'renew'; readonly name: string; readonly password: string };
export type Scribble = { readonly do: 'scribble'; readonly name: string; readonly patch: Fields };

/** One thing that somebody does, or a fault that strikes one of the next effects, so long after the one before. */
export type Step = { readonly afterMs: number } & (
  | Specify
  | (ToAnObject & { readonly do: 'annotate'; readonly annotations: Fields })
  | (ToAnObject & { readonly do: 'delete' })
  | Handle
  | InTheCloud
  | OnAServer
  | Scribble
  | Renew
  | { readonly do: 'terminate'; readonly namespace: string }
  | { readonly do: 'strike'; readonly fault: Fault; readonly inEffects: number }
);

export interface Story {
  /** Also decides how long calls take; undefined: nothing takes time. */
  readonly seed?: number;
  readonly replicas?: number;
  readonly shards?: true;
  readonly secrets?: 'get';
  /** How servers and the cloud behave; undefined: as the documents say. */
  readonly dialect?: Dialect;
  readonly steps: readonly Step[];
}

export const RESOURCES: Readonly<Record<Plural, Resource>> = {
  databasespaces: SPACES,
  databaseclusters: CLUSTERS,
  databaseusers: USERS,
  databases: DATABASES,
  secrets: SECRETS,
};

const NAMES = {
  // The first two name the same place.
  databasespaces: ['production', 'alias', 'preview'],
  databaseclusters: ['orders', 'billing'],
  databaseusers: ['app', 'web'],
  databases: ['sales', 'stock'],
  secrets: ['orders-admin', 'billing-admin', 'shared-admin', 'app-connection'],
} as const;
const IDS = ['orders', 'billing', 'legacy'];
/** Others of these names in another namespace, which may or may not use what is in the first. */
const NAMESAKES = {
  databasespaces: [],
  databaseclusters: ['tenant/orders'],
  databaseusers: ['tenant/app'],
  databases: ['tenant/sales'],
  secrets: ['tenant/orders-admin'],
} as const;
const EVERYBODY = { from: 'All' };
/** Mostly names of what exists at times. */
const TEXTS = [
  ...[...Object.values(NAMES).flat(), ...IDS, 'nothing', 'somebody-elses', 'own-password'],
  ...['cloud-read', 'cloud-admin', 'factory-login', 'password', 'gcp', 'c2d-highcpu-4', 'c2d-highcpu-8', 'latest'],
  ...['10m', '24h', '', 'https://{host}:{port}', '{{ username }}'],
];

const DEFINITIONS = {
  databasespaces: databaseSpaceDefinition as ResourceDefinition,
  databaseclusters: databaseClusterDefinition as ResourceDefinition,
  databaseusers: databaseUserDefinition as ResourceDefinition,
  databases: databaseDefinition as ResourceDefinition,
} as const;
type Ours = keyof typeof DEFINITIONS;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A field that is often absent. */
const maybe = <T>(...values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const FIRST = { namespace: 'shop' };
const refTo = (of: Ours) =>
  fc.constantFrom(...NAMES[of]).chain((name) => fc.constantFrom<Fields>({ name }, { name }, { name, ...FIRST }));

/** What people change about a cluster that has a meaning, unlike most that `arbitraryChange` draws. */
const changeable = {
  clusterID: maybe(...IDS),
  adoptionPolicy: maybe('Never', 'IfExists', 'IfExists', 'MustExist'),
  managementPolicy: maybe(...Array.from({ length: 9 }, () => 'Manage'), 'Observe'),
  deletionPolicy: maybe('Delete', 'Delete', 'Retain', 'Suspend'),
  recreatePolicy: maybe('Never', 'Always'),
  deletionProtection: maybe(true, false, false),
  state: maybe('Running', 'Running', 'Suspended'),
  storageSizeGB: maybe(100, 200),
  allowedNamespaces: maybe(EVERYBODY, EVERYBODY, { from: 'Same' }),
  adminCredentials: maybe<Fields>(...NAMES.secrets.map((secretName) => ({ secretName })), { rotateEvery: '24h' }),
};

/** The same about users and databases. */
const changeableOfUser = {
  adoptionPolicy: maybe('Never', 'IfExists'),
  deletionPolicy: maybe('Delete', 'Retain'),
  passwordSecretRef: maybe({ name: 'own-password' }, { name: 'factory-login' }),
  connectionSecret: maybe({ name: 'app-connection' }, { name: 'web-connection' }, { name: 'orders-admin' }),
};
const changeableOfDatabase = {
  adoptionPolicy: maybe('Never', 'IfExists'),
  deletionPolicy: maybe('Delete', 'Retain'),
  schema: maybe([{ inline: 'define attribute name, value string;' }], [{ inline: 'define what nobody knows;' }]),
};

/** Mostly the space that is there from the beginning. */
const spaceRef = fc.constantFrom<Fields>(
  ...['production', 'production', 'production', 'alias', 'preview'].map((name) => ({ name, ...FIRST })),
  { name: 'production' },
);

const SPECS: Readonly<Record<Ours, fc.Arbitrary<Fields>>> = {
  databasespaces: fc.constant({}),
  databaseclusters: fc.record({
    spaceRef,
    ...changeable,
    cloneFrom: fc.option(fc.record({ clusterRef: refTo('databaseclusters') }), { nil: undefined, freq: 3 }),
  }),
  databaseusers: fc.record({
    clusterRef: refTo('databaseclusters'),
    username: maybe(...NAMES.databaseusers),
    ...changeableOfUser,
  }),
  databases: fc.record({
    clusterRef: refTo('databaseclusters'),
    name: maybe(...NAMES.databases),
    ...changeableOfDatabase,
  }),
};

const FAULTS: readonly Fault[] = [
  ...(['crashBefore', 'crashAfter', 'crashTwice', 'lostAnswer', 'gatewayTimeout', 'serverError', 'reset'] as const),
  ...(['conflict', 'throttled', 'truncated', 'misrouted', 'stale', 'duplicate', 'gap', 'oldList', 'flaky'] as const),
  ...(['cloudOutage', 'serverOutage', 'apiOutage', 'restart', 'freeze', 'partition'] as const),
  ...(['unauthorized', 'forbidden', 'lateLanding', 'clockForward', 'clockBack', 'wrongToken', 'upgrade'] as const),
];

const TARGETS: Readonly<Record<(typeof ON_A_SERVER)[number], readonly string[]>> = {
  setPassword: ['admin', ...NAMES.databaseusers],
  deleteUser: NAMES.databaseusers,
  createDatabase: NAMES.databases,
  dropDatabase: NAMES.databases,
};

/** People do several things at once, one after the other, or after a while. */
const afterMs = fc.oneof(
  { arbitrary: fc.constant(0), weight: 1 },
  { arbitrary: fc.integer({ min: 0, max: 3_000 }), weight: 3 },
  { arbitrary: fc.integer({ min: 0, max: 60_000 }), weight: 3 },
  { arbitrary: fc.integer({ min: 0, max: 900_000 }), weight: 1 },
);
/** Most of what can go wrong concerns clusters. */
const kind = fc.constantFrom<Ours>(
  ...([
    'databaseclusters',
    'databaseclusters',
    'databaseclusters',
    'databaseusers',
    'databases',
    'databasespaces',
  ] as const),
);

const does = <const T extends string>(what: T) => ({ afterMs, do: fc.constant(what) });
const object = (of: Plural) => ({
  of: fc.constant(of),
  name: fc.constantFrom<string>(...NAMES[of], ...NAMES[of], ...NAMESAKES[of]),
});
const creates = (of: Ours): fc.Arbitrary<Step> => fc.record({ ...does('create'), ...object(of), spec: SPECS[of] });
const edits = (of: Ours): fc.Arbitrary<Step> =>
  fc.record({ ...does('edit'), ...object(of), spec: arbitraryChange(DEFINITIONS[of], TEXTS, { storageSizeGB: 200 }) });
const at = (step: Specify): fc.Arbitrary<Step> => afterMs.map((ms) => ({ afterMs: ms, ...step }));
const deletes = (of: Plural): fc.Arbitrary<Step> => fc.record({ ...does('delete'), ...object(of) });
const annotations = fc.oneof(
  fc.record({ 'mooring.dev/paused': fc.constantFrom('true', null) }),
  fc.record({ 'mooring.dev/rotate-at': fc.constantFrom('1', '2', '3') }),
  fc.record({ 'mooring.dev/abandon': fc.constantFrom('true', null) }),
  fc.record({ 'mooring.dev/reconcile-at': fc.constantFrom('1', '2', '3') }),
);

/** What people may do to a Secret that Mooring wrote: less to the logins in it than to the rest. */
const SCRIBBLES: fc.Arbitrary<Fields> = fc.constantFrom<Fields>(
  { data: { password: base64('scribbled') } },
  { data: { password: null } },
  { data: { nextPassword: base64('scribbled') } },
  { data: { username: base64('somebody') } },
  ...[{ host: null }, { note: base64('a note') }].map((data) => ({ data })),
  ...[{ labels: null }, { annotations: null }, { ownerReferences: null }, { finalizers: null }].map((metadata) => ({
    metadata,
  })),
);

const STEPS: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: kind.chain(creates), weight: 12 },
  { arbitrary: kind.chain(edits), weight: 9 },
  {
    arbitrary: fc.record({ ...does('edit'), ...object('databaseclusters'), spec: fc.record(changeable) }),
    weight: 12,
  },
  {
    // Whoever removes the finalizers of a space may lose it while it is needed.
    arbitrary: kind.chain((of) =>
      fc.record({
        afterMs,
        do: fc.constantFrom(...TO_AN_OBJECT).filter((what) => what !== 'unhold' || of !== 'databasespaces'),
        ...object(of),
      }),
    ),
    weight: 3,
  },
  { arbitrary: kind.chain(deletes), weight: 6 },
  { arbitrary: deletes('secrets'), weight: 1 },
  {
    arbitrary: fc.record({ ...does('scribble'), name: object('secrets').name, patch: SCRIBBLES }),
    weight: 1,
  },
  {
    arbitrary: fc.record({
      ...does('renew'),
      name: fc.constantFrom('own-password', 'factory-login'),
      password: fc.constantFrom('a-second-of-our-own', 'a-third-of-our-own'),
    }),
    weight: 1,
  },
  { arbitrary: fc.record({ ...does('terminate'), namespace: fc.constant('tenant') }), weight: 1 },
  { arbitrary: kind.chain((of) => fc.record({ ...does('annotate'), ...object(of), annotations })), weight: 3 },
  { arbitrary: fc.record({ afterMs, do: fc.constantFrom(...IN_THE_CLOUD), id: fc.constantFrom(...IDS) }), weight: 6 },
  {
    arbitrary: fc
      .constantFrom(...ON_A_SERVER)
      .chain((what) =>
        fc.record({ ...does(what), id: fc.constantFrom(...IDS), target: fc.constantFrom(...TARGETS[what]) }),
      ),
    weight: 2,
  },
);
const STRIKES: fc.Arbitrary<Step> = fc.record({
  ...does('strike'),
  fault: fc.constantFrom(...FAULTS),
  inEffects: fc.integer({ min: 1, max: 6 }),
});

/** What people change in manifests alone. */
export type Change = Extract<Step, { readonly do: 'create' | 'edit' | 'annotate' | 'delete' }>;

const some = { requiredKeys: [] };
const CHANGES = fc.oneof(
  { arbitrary: kind.chain(creates), weight: 8 },
  { arbitrary: kind.chain(edits), weight: 4 },
  {
    arbitrary: fc.record({ ...does('edit'), ...object('databaseclusters'), spec: fc.record(changeable, some) }),
    weight: 8,
  },
  {
    arbitrary: fc.record({ ...does('edit'), ...object('databaseusers'), spec: fc.record(changeableOfUser, some) }),
    weight: 3,
  },
  {
    arbitrary: fc.record({ ...does('edit'), ...object('databases'), spec: fc.record(changeableOfDatabase, some) }),
    weight: 3,
  },
  { arbitrary: kind.chain(deletes), weight: 6 },
  { arbitrary: kind.chain((of) => fc.record({ ...does('annotate'), ...object(of), annotations })), weight: 4 },
) as fc.Arbitrary<Change>;

/** The changes of manifests that the seed stands for: some at once, or none, and that several times. */
export function changesOf(seed: number, times: number): readonly (readonly Change[])[] {
  const atOnce = fc.array(CHANGES, { maxLength: 3, size: 'max' });
  const [changes = []] = fc.sample(fc.array(atOnce, { minLength: times, maxLength: times }), { seed, numRuns: 1 });
  return changes;
}

/** What there is at first, mostly, so that the rest has something to be about. */
const BEGINNING = fc.tuple(
  ...['alias', 'preview'].map((name) =>
    fc.option(at({ do: 'create', of: 'databasespaces', name, spec: {} }), { freq: 2 }),
  ),
  fc.option(at({ do: 'create', of: 'databaseclusters', name: 'orders', spec: { allowedNamespaces: EVERYBODY } }), {
    freq: 4,
  }),
  ...(['databaseclusters', 'databaseusers', 'databases'] as const).map((of) => fc.option(creates(of), { freq: 4 })),
);

/** Returns the story that the seed stands for. Half of them have no faults: what goes wrong then is easiest to understand. */
export function storyOf(seed: number): Story {
  const any = seed % 2 === 0 ? STEPS : fc.oneof({ arbitrary: STEPS, weight: 4 }, { arbitrary: STRIKES, weight: 1 });
  const story = fc.tuple(BEGINNING, fc.array(any, { minLength: 5, maxLength: 20, size: 'max' }));
  const [[beginning, rest] = [[], []]] = fc.sample(story, { seed, numRuns: 1 });
  const shards = seed % 10 === 9;
  // Whoever checks that replicas share the spaces knows where the cloud is.
  const isChecked = (step: Step) => !shards || step.do !== 'edit' || step.of !== 'databasespaces';
  return {
    // If calls take time, a replica may say that a cluster does not exist at the moment when it is created in another one's space.
    ...(seed % 3 === 0 && !shards ? { seed } : {}),
    ...(seed % 10 < 8 ? {} : { replicas: 2 }),
    ...(shards ? { shards } : {}),
    ...(seed % 7 === 6 ? { secrets: 'get' } : {}),
    ...(seed % 4 === 1 ? { dialect: 'field' } : {}),
    steps: [...beginning.filter((step) => step !== null), ...rest.filter(isChecked)],
  };
}
