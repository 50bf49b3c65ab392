import { expect, test } from 'vitest';
import { HttpError } from '../../src/base/transport.ts';
import { RECONCILE_AT, ROTATE_AT } from '../../src/kube/annotations.ts';
import { type Asked, aCrowd, type Front } from './crowd.ts';
import { CLUSTERS, DATABASES, NAMESPACE, SPACES as SPACES_RESOURCE, USERS } from './view.ts';

const CLUSTER_COUNT = 200;
const OUTAGE_MS = 10 * 60_000;
const PROBE_EVERY_MS = 30_000;
/** Probes come up to a twentieth later by chance, then wait some seconds for the next call. Or one was made just before. */
const NEXT_PROBE_MS = PROBE_EVERY_MS * 1.05 + 5_000;
/** Calls that hang are given up after 20 s, and so are those that follow them. */
const KNOWN_AFTER_MS = 45_000;
/** Eight passes of one space at a time, their successors before five calls have failed, and two substitutes while they hang. */
const MOST_AT_FIRST = 14;

const refused: Front = async ({ method }) => {
  throw new HttpError('unreachable', `${method}: ECONNREFUSED`);
};
const broken: Front = async ({ method }) => {
  throw new HttpError('lost', `${method}: ECONNRESET`);
};
const unavailable =
  (headers: Readonly<Record<string, string>> = {}): Front =>
  async () => ({ status: 503, headers, body: emptyBody() });

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

type Crowd = Awaited<ReturnType<typeof aCrowd>>;

/** Accepts the connection, and never answers. The client gives up after 20 s. */
const hanging =
  ({ clock }: Crowd): Front =>
  async () => {
    await new Promise<void>((resolve) => clock.after(20_000, resolve));
    throw new HttpError('lost', 'No complete answer in time');
  };

/** Begins to create this many clusters. */
async function aStartingCrowd(count: number) {
  const crowd = await aCrowd(['production']);
  void crowd.start();
  const names = Array.from({ length: count }, (_, index) => `cluster-${index}`);
  for (const name of names) await crowd.createCluster(name, 'production');
  return { ...crowd, names };
}

/** The same, with all clusters Ready. */
async function aReadyCrowd(count: number) {
  const crowd = await aStartingCrowd(count);
  await crowd.clock.runUntil(() => crowd.names.every(crowd.isReady), 'all are Ready', 120_000);
  return crowd;
}

/** Sets verification of each login to once a minute, and waits for the first one. */
async function verifyOften({ kube, clock }: Crowd): Promise<void> {
  const often = { spec: { verifyInterval: '60s' } };
  await kube.patch(SPACES_RESOURCE, { namespace: NAMESPACE, name: 'production' }, often);
  await clock.advance(61_000);
}

/** Counts writes of each object's status from now on, by name. */
function statusWrites({ kube }: Crowd): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const patch = kube.patch.bind(kube);
  kube.patch = (resource, ref, body, options) => {
    if (options?.subresource === 'status') counts.set(ref.name, (counts.get(ref.name) ?? 0) + 1);
    return patch(resource, ref, body, options);
  };
  return counts;
}

test.each<[string, (crowd: Crowd) => Front]>([
  ['refuses connections', () => refused],
  ['breaks connections', () => broken],
  ['answers 503', () => unavailable()],
  ['answers 503 with Retry-After: 45', () => unavailable({ 'retry-after': '45' })],
  ['never answers', hanging],
])(
  'A cloud that %s is asked every 30 s, after a first try of each operation, and when it is back, 200 changes are made soon',
  async (_, frontOf) => {
    const crowd = await aReadyCrowd(CLUSTER_COUNT);
    const { clock, asked, setting, kube, names } = crowd;
    await clock.advance(61_000);

    setting.front = frontOf(crowd);
    const begin = clock.monotonic();
    const from = asked.length;
    const spec = { storageSizeGB: 300 };
    for (const name of names) await kube.patch(CLUSTERS, { namespace: NAMESPACE, name }, { spec });
    const told = statusWrites(crowd);
    await clock.advance(OUTAGE_MS);
    // What is wrong, and perhaps what this object's own try found; not each failed try of another one.
    expect(Math.max(...names.map((name) => told.get(name) ?? 0))).toBeLessThanOrEqual(2);
    for (const { reason, message } of names.map(
      (name) => crowd.readyOf(CLUSTERS, name) ?? { reason: '', message: '' },
    )) {
      expect(reason).toBe('CloudUnreachable');
      expect(message).toMatch(/ECONNREFUSED|ECONNRESET|503|no complete answer came|No complete answer/);
    }
    // If a failed operation was answered, that says nothing about other operations: each gets a first try.
    const isFirst = ({ method, path }: Asked, index: number, all: readonly Asked[]) =>
      all.findIndex((other) => other.method === method && operationOf(other.path) === operationOf(path)) === index;
    const failed = asked.slice(from);
    const first = failed.filter(isFirst);
    expect(first.length).toBeLessThanOrEqual(3);
    const inVain = failed.filter((one) => !first.includes(one)).map(({ at }) => at);
    expect(crowd.readyOf(SPACES_RESOURCE, 'production')?.reason).toBe('CloudUnreachable');
    const probes = inVain.filter((at) => at > begin + KNOWN_AFTER_MS);
    expect(inVain.length - probes.length).toBeLessThanOrEqual(MOST_AT_FIRST);
    expect(probes.length).toBeGreaterThan(OUTAGE_MS / 60_000);
    const gaps = probes.slice(1).map((at, index) => at - (probes[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(PROBE_EVERY_MS);

    const healed = clock.monotonic();
    const to = asked.length;
    setting.front = (request, pass) => pass(request);
    const isBigger = (name: string) =>
      [...crowd.simulator.clusters()].some(({ id, storageSizeGB }) => id === name && storageSizeGB === 300);
    const areDone = () => names.every((name) => crowd.isReady(name) && isBigger(name));
    await clock.runUntil(areDone, 'all changes are made', 600_000);
    crowd.stop();
    const answered = asked.slice(to).filter(({ status }) => status === 200);
    const firstAt = answered[0]?.at ?? Number.NaN;
    expect(firstAt - healed).toBeLessThanOrEqual(NEXT_PROBE_MS);
    expect(clock.monotonic() - firstAt).toBeLessThan(10_000);
    expect(busiestSecond(answered)).toBeLessThanOrEqual(51);
    expect(answered.filter(({ method }) => method === 'PATCH')).toHaveLength(CLUSTER_COUNT);
  },
  120_000,
);

test.each(['outage', '5xx', 'hang'] as const)(
  'Each cluster reports that its servers are down (%s) once or twice, however long that lasts',
  async (effect) => {
    const crowd = await aReadyCrowd(20);
    const { clock, simulator, names } = crowd;
    await verifyOften(crowd);

    simulator.faults.add({ match: { api: 'server' }, effect });
    const told = statusWrites(crowd);
    await clock.advance(OUTAGE_MS);
    crowd.stop();
    expect(names.map((name) => crowd.readyOf(CLUSTERS, name)?.reason)).toEqual(names.map(() => 'ServerUnreachable'));
    expect(Math.min(...names.map((name) => told.get(name) ?? 0))).toBe(1);
    // An object that first reports a call that was held back later reports a call that was tried.
    expect(Math.max(...names.map((name) => told.get(name) ?? 0))).toBeLessThanOrEqual(2);
    for (const name of names) expect(crowd.readyOf(CLUSTERS, name)?.message).toContain('Cannot sign in as "admin": ');
  },
  120_000,
);

test('Calls to servers or to the cloud that fail now and then are not reported', async () => {
  const crowd = await aServedCrowd();
  const { clock, simulator, names, all } = crowd;
  simulator.faults.add({ effect: '5xx', probability: 0.1 });
  const told = statusWrites(crowd);
  // Each of 50 logins is verified once a minute, and the space is listed.
  await clock.advance(30 * 60_000);
  crowd.stop();
  expect(names.filter((name) => !crowd.isReady(name))).toEqual([]);
  expect(all().filter(({ ready }) => ready?.status !== 'True')).toEqual([]);
  // By chance a few looks at a cluster fail for longer than the grace period, and the four objects on it pass that on; reporting each
  // failure would take some 900 writes.
  const sumOf = (counts: Iterable<number>) => [...counts].reduce((sum, count) => sum + count, 0);
  const ofClusters = sumOf(names.map((name) => told.get(name) ?? 0));
  expect(ofClusters).toBeLessThan(10);
  expect(sumOf(told.values()) - ofClusters).toBeLessThanOrEqual(5 * ofClusters);
}, 120_000);

test('A cloud where only updates fail is still listed, and still deploys new clusters', async () => {
  const crowd = await aReadyCrowd(20);
  const { clock, setting, kube, names } = crowd;
  setting.front = (request, pass) => (request.method === 'PATCH' ? unavailable()(request, pass) : pass(request));
  for (const name of names)
    await kube.patch(CLUSTERS, { namespace: NAMESPACE, name }, { spec: { storageSizeGB: 300 } });
  await clock.advance(OUTAGE_MS);
  expect(crowd.readyOf(SPACES_RESOURCE, 'production')?.status).toBe('True');
  expect(names.map((name) => crowd.readyOf(CLUSTERS, name)?.reason)).toEqual(names.map(() => 'CloudUnreachable'));
  await crowd.createCluster('newcomer', 'production');
  await clock.runUntil(() => crowd.isReady('newcomer'), 'the newcomer is Ready', 30_000);
  setting.front = (request, pass) => pass(request);
  await clock.runUntil(() => names.every(crowd.isReady), 'all are Ready again', 400_000);
  crowd.stop();
});

/** Creates ten clusters, each with a user and a database that stay, and a user and a database that will change. */
async function aServedCrowd() {
  const crowd = await aStartingCrowd(10);
  const { clock, kube, names } = crowd;
  const createOnEach = async (age: string) => {
    for (const name of names) {
      for (const kind of [USERS, DATABASES])
        await crowd.create(kind, `${age}-${kind.plural}-${name}`, { clusterRef: { name } });
    }
  };
  await createOnEach('same');
  await createOnEach('changed');
  const all = () =>
    [USERS, DATABASES].flatMap((kind) =>
      kube.all(kind).map(({ metadata: { name } }) => ({ name, ready: crowd.readyOf(kind, name) })),
    );
  const areReady = () => all().every(({ ready }) => ready?.status === 'True');
  await clock.runUntil(areReady, 'all are Ready', 120_000);
  await verifyOften(crowd);
  const change = async () => {
    for (const name of names) {
      const ref = (kind: typeof USERS) => ({ namespace: NAMESPACE, name: `changed-${kind.plural}-${name}` });
      await kube.patch(USERS, ref(USERS), { metadata: { annotations: { [ROTATE_AT]: 'now' } } });
      await kube.patch(DATABASES, ref(DATABASES), { metadata: { annotations: { [RECONCILE_AT]: 'now' } } });
    }
    await createOnEach('new');
  };
  return { ...crowd, all, change };
}

test.each(['outage', '5xx', 'hang'] as const)(
  'Objects on servers that are down (%s) wait, and say so a few times, whether they are unchanged, changed or new',
  async (effect) => {
    const crowd = await aServedCrowd();
    const { clock, simulator, all } = crowd;
    simulator.faults.add({ match: { api: 'server' }, effect });
    const told = statusWrites(crowd);
    await crowd.change();
    await clock.advance(OUTAGE_MS);
    crowd.stop();
    expect(all().map(({ ready }) => ready?.reason)).toEqual(all().map(() => 'WaitingForCluster'));
    const counts = all().map(({ name }) => [name, told.get(name) ?? 0] as const);
    expect(counts).toHaveLength(60);
    // A new database also announces its creation, and tries two calls.
    const most = (name: string) => (name.startsWith('new-databases') ? 4 : 3);
    expect(counts.filter(([name, count]) => count < 1 || count > most(name))).toEqual([]);
  },
  120_000,
);

test.each([
  ['listUsers', /^new-databaseusers/],
  ['createUser', /^new-databaseusers/],
  ['updateUser', /^changed-databaseusers/],
  ['listDatabases', /-databases-/],
  ['createDatabase', /^new-databases-/],
])(
  'Servers that fail only at %s are no outage: objects that do not need it stay Ready, and none is written again and again',
  async (operation, needs) => {
    const crowd = await aServedCrowd();
    const { clock, simulator, names, all } = crowd;
    simulator.faults.add({ match: { api: 'server', operation }, effect: '5xx' });
    const told = statusWrites(crowd);
    await crowd.change();
    await clock.advance(OUTAGE_MS);
    expect(names.filter((name) => !crowd.isReady(name) || told.has(name))).toEqual([]);
    expect(all().filter(({ name, ready }) => ready?.status !== 'True' && !needs.test(name))).toEqual([]);
    expect([...told].filter(([, count]) => count > 5)).toEqual([]);
    simulator.faults.clear();
    await clock.advance(400_000);
    crowd.stop();
    expect(all().filter(({ ready }) => ready?.status !== 'True')).toEqual([]);
  },
  120_000,
);

function operationOf(path: string): string {
  return path.replace(/cluster-\d+/, ':id');
}

function busiestSecond(requests: readonly Asked[]): number {
  const counts = new Map<number, number>();
  for (const { at } of requests) counts.set(Math.floor(at / 1000), (counts.get(Math.floor(at / 1000)) ?? 0) + 1);
  return Math.max(...counts.values());
}
