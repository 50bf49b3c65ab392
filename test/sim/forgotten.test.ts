import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

/** The line of src/ that made each Map and Set. */
const made: { readonly ref: WeakRef<Map<unknown, unknown> | Set<unknown>>; readonly line: string }[] = [];

function note(collection: Map<unknown, unknown> | Set<unknown>): void {
  const [, maker = ''] =
    new Error().stack
      ?.split('\n')
      .filter((line) => /\/(src|test)\//.test(line))
      .slice(1) ?? [];
  const line = /\/(src\/(?!sandbox|simulator).*:\d+):/.exec(maker)?.[1];
  if (line !== undefined) made.push({ ref: new WeakRef(collection), line });
}

globalThis.Map = class<K, V> extends Map<K, V> {
  constructor(entries?: Iterable<readonly [K, V]> | null) {
    super(entries);
    note(this);
  }
} as MapConstructor;
globalThis.Set = class<T> extends Set<T> {
  constructor(values?: Iterable<T> | null) {
    super(values);
    note(this);
  }
} as SetConstructor;

// Only now, so that Maps of modules count, too.
const { CONFIG_MAPS, DATABASES, NAMESPACE, USERS, CLUSTERS, KINDS } = await import('./view.ts');
const { World } = await import('./world.ts');
type AWorld = InstanceType<typeof World>;

/** Longer than anything takes here, and than two verifications are apart. */
const LONG_MS = 25 * 60_000;
/** So many twice. */
const ROUNDS = 2;
/** These forget by themselves: what was used least recently, what time is over, or all once there is too much. */
const BOUNDED = /^src\/(?:base\/collections\/(?:recent|buckets)|operator\/replicas\/owners)\.ts/;

/** Returns how much is in all Maps and Sets that are still referred to, by the line that made them. */
async function held(): Promise<Readonly<Record<string, number>>> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // A WeakRef that was read keeps its target for this turn.
  for (let count = 0; count < 3; count++) {
    await turn();
    collect();
  }
  const sizes: Record<string, number> = {};
  for (const { ref, line } of made) sizes[line] = (sizes[line] ?? 0) + (ref.deref()?.size ?? 0);
  return sizes;
}

/** Objects of all kinds come and go: most come to be Ready; others wait, want what is taken, or have a mistake. */
async function round({ people, clock, kube, view }: AWorld, number: number): Promise<void> {
  const cluster = `cluster-${number}`;
  const schema = (attribute: string) => [{ inline: `define attribute ${attribute}, value string;` }];
  const fromMap = [{ configMapKeyRef: { name: `schema-${number}`, key: 'schema' } }];
  const created = [
    [CLUSTERS, cluster, { deletionPolicy: 'Delete', spaceRef: { name: 'production' } }],
    [CLUSTERS, `waits-${number}`, { spaceRef: { name: `missing-${number}` } }],
    [USERS, `user-${number}`, { clusterRef: { name: cluster } }],
    [USERS, `first-${number}`, { clusterRef: { name: 'orders' }, username: `name-${number}` }],
    [USERS, `second-${number}`, { clusterRef: { name: 'orders' }, username: `name-${number}` }],
    [USERS, `waits-${number}`, { clusterRef: { name: `missing-${number}` } }],
    [DATABASES, `database-${number}`, { clusterRef: { name: cluster }, schema: schema(`a${number}`) }],
    [DATABASES, `mapped-${number}`, { clusterRef: { name: 'orders' }, schema: fromMap, deletionPolicy: 'Delete' }],
  ] as const;
  await people.putConfigMap(`schema-${number}`, { schema: 'define attribute name, value string;' });
  for (const [resource, name, spec] of created) {
    if (resource === CLUSTERS) await people.createCluster(spec, name);
    else await people.create(resource, name, spec);
    // The one that is older has the name.
    await clock.advance(1_000);
  }
  await people.edit({ annotations: { 'mooring.dev/pausd': 'true' } }, `second-${number}`, USERS);
  await people.edit({ annotations: { 'mooring.dev/rotate-at': String(number) } }, 'app', USERS);
  await clock.advance(LONG_MS);
  expect(created.map(([resource, name]) => view.ready(name, resource))).toEqual([
    'True Running',
    'Unknown SpaceNotFound',
    'True LoginWorks',
    'True LoginWorks',
    'False UserClaimed',
    'Unknown ClusterNotFound',
    'True DatabaseReady',
    'True DatabaseReady',
  ]);
  for (const [resource, name] of created) people.remove(name, resource);
  kube.remove(CONFIG_MAPS, { namespace: NAMESPACE, name: `schema-${number}` });
  await clock.advance(LONG_MS);
  expect(KINDS.map((kind) => view.objects(kind).length)).toEqual([1, 1, 1, 0]);
}

test.each([
  ['alone', {}],
  ['alone and reads Secrets by name', { secrets: 'get' }],
  ['beside another replica, sharing spaces', { shards: true, replicas: 2 }],
] as const)(
  'A process that works %s holds nothing more after objects have come and gone',
  async (_, plan) => {
    const world = new World({ scenario: 'nothing', strikes: [], ...plan });
    await world.start();
    await world.createCluster();
    await world.people.create(USERS, 'app', { clusterRef: { name: 'orders' } });
    await world.clock.advance(LONG_MS);
    let before: Readonly<Record<string, number>> = {};
    for (let number = 1; number <= 2 * ROUNDS; number++) {
      await round(world, number);
      if (number === ROUNDS) before = await held();
    }
    const after = await held();
    const grown = Object.entries(after).filter(([line, size]) => !BOUNDED.test(line) && size > (before[line] ?? 0));
    world.stop();
    expect([grown, world.invariants.violations]).toEqual([[], []]);
    expect(Object.values(after).filter((size) => size > 0).length).toBeGreaterThan(20);
  },
  120_000,
);
