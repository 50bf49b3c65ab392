import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { clusterManifest, NAMESPACE } from '../manifests.ts';
import { firstAbout } from '../measure/journal.ts';
import { total } from '../measure/kube-requests.ts';
import { canLookAtProcesses, memoryOf } from '../measure/process.ts';
import { metricsOf, type Operator, type OperatorMetrics } from '../operator.ts';
import type { Setting } from '../setting.ts';
import { standingCrowd } from '../standing.ts';
import { until, untilQuiet } from '../wait.ts';
import { type Crowd, settleSpaces } from './scale.ts';
import { since } from './since.ts';

export const REPLICA_SPACES = 10;
const REPLICAS = 3;
const TIMEOUT_MS = 300_000;
/** The dead replica's Lease is 15 s long, and is checked every two seconds. Then its objects are reconciled. */
const TAKEN_TARGET_S = 20;
const NEWCOMER_TARGET_MS = 100;

/** S15: one operator has all spaces; then three share them; then one of the three is killed. */
export async function replicas(setting: Setting, sheet: Sheet, crowd: Crowd): Promise<void> {
  await standingCrowd(setting, crowd.clusters, crowd.users);
  await settleSpaces(setting, crowd);
  sheet.add('clusters', crowd.clusters, 'count');
  sheet.add('users', crowd.users, 'count');
  sheet.add('spaces', setting.spaces.length, 'count');
  const [one] = await share(setting, sheet, crowd, 1);
  await one?.end();
  await loss(setting, sheet, await share(setting, sheet, crowd, REPLICAS));
}

/** Starts this many replicas, and adds figures of them once they have looked at every object. */
async function share(setting: Setting, sheet: Sheet, crowd: Crowd, count: number): Promise<readonly Operator[]> {
  const { signal, spaces } = setting;
  const changes = await since(setting);
  const started = Array.from({ length: count }, () => setting.startOperator(['--shard-by-space']));
  const all = await Promise.all(started);
  const told = () => Promise.all(all.map(metricsOf));
  const sum = (each: readonly OperatorMetrics[], of: (one: OperatorMetrics) => number) =>
    each.reduce((so, one) => so + of(one), 0);
  const isDone = async () => {
    const each = await told();
    const listed = each.flatMap((one) => one.spaces);
    return (
      new Set(listed).size === spaces.length &&
      listed.length === spaces.length &&
      sum(each, ({ passes }) => passes) >= crowd.clusters &&
      sum(each, ({ userPasses }) => userPasses) >= crowd.users &&
      sum(each, ({ depth }) => depth) === 0
    );
  };
  await until(isDone, `${count} replicas have looked at every object`, TIMEOUT_MS, signal);
  await untilQuiet(setting);
  await sleep(crowd.restS * 1000, undefined, { signal });
  const { kube, cloud } = await changes();
  const looks = (cloud.get('list') ?? 0) + (cloud.get('exchangeToken') ?? 0);
  const each = await told();
  const most = (of: (one: OperatorMetrics) => number) => Math.max(...each.map(of));
  const name = count === 1 ? 'one replica: ' : `${count} replicas: `;
  sheet.add(`${name}Kubernetes writes at their start`, total(kube.writes), 'count', 0);
  sheet.add(`${name}management calls except Lists and tokens`, total(cloud) - looks, 'count', 0);
  sheet.add(
    `${name}spaces of the replica that has most`,
    most(({ spaces: had }) => had.length),
    'count',
  );
  sheet.add(
    `${name}heap in use, of the largest replica`,
    most(({ heapUsedMB }) => heapUsedMB),
    'MB',
  );
  if (canLookAtProcesses)
    sheet.add(
      `${name}memory at rest, of the largest replica`,
      Math.max(...all.map(({ pid }) => memoryOf(pid).residentMB)),
      'MB',
    );
  return all;
}

/** Kills the replica with most spaces: they move to the others, which go on with what they have. */
async function loss(setting: Setting, sheet: Sheet, all: readonly Operator[]): Promise<void> {
  const { api, cloud, signal, tracker } = setting;
  const had = new Map(await Promise.all(all.map(async (one) => [one, (await metricsOf(one)).spaces] as const)));
  const [dying, ...living] = all.toSorted((one, other) => (had.get(other)?.length ?? 0) - (had.get(one)?.length ?? 0));
  const [orphaned] = (dying && had.get(dying)) ?? [];
  const [kept] = living.flatMap((one) => had.get(one) ?? []);
  if (dying === undefined || orphaned === undefined || kept === undefined) throw new Error('One replica has all');
  await cloud.setProvisionTime('0s');
  const begin = Date.now();
  await dying.end('SIGKILL');
  const created = async (name: string, space: string) => {
    await api.create(DATABASE_CLUSTERS, NAMESPACE, clusterManifest(name, space), signal);
    return Date.now();
  };
  await created('orphan', orphaned);
  const keptAt = await created('beside', kept);
  await tracker.until(() => tracker.readyAt('beside') !== undefined, 'the newcomer is Ready', TIMEOUT_MS, signal);
  await tracker.until(() => tracker.readyAt('orphan') !== undefined, 'the orphan is Ready', TIMEOUT_MS, signal);
  const journal = await cloud.journal();
  const deployedAt = (name: string) => firstAbout(journal, name, begin, ({ deploys }) => deploys).at;
  sheet.add(
    'SIGKILL of one → first act in one of its spaces',
    (deployedAt('orphan') - begin) / 1000,
    's',
    TAKEN_TARGET_S,
  );
  sheet.add("  newcomer in another replica's space meanwhile", deployedAt('beside') - keptAt, 'ms', NEWCOMER_TARGET_MS);
  const moved = await Promise.all(
    living.map(async (one) => {
      const now = new Set((await metricsOf(one)).spaces);
      return had.get(one)?.filter((space) => !now.has(space)).length ?? 0;
    }),
  );
  sheet.add(
    '  other spaces that moved',
    moved.reduce((so, count) => so + count, 0),
    'count',
    0,
  );
}
