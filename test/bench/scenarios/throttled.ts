import type { Sheet } from '../figure.ts';
import { jain, servedWhileContended } from '../measure/fairness.ts';
import { percentile } from '../measure/percentile.ts';
import type { Setting } from '../setting.ts';
import { until, untilQuiet } from '../wait.ts';

const GOODPUT_TARGET = 0.95;
const JAIN_TARGET = 0.95;
/** Leaves room for requests other than deploys, and for refused requests, which come again later. */
const WAIT_SHARE = 2;
const TIMEOUT_MS = 60_000;

export interface Demand {
  /** How many clusters each quiet space wants. */
  readonly quiet: number;
  /** How many clusters the noisy space wants, which is the first. */
  readonly noisy: number;
}

/** The cloud's limit in requests a second for all spaces together. */
export const REQUESTS_PER_SECOND = 10;
export const SPACES = 10;

/** S12: the cloud lets few requests through, and one space of ten wants ten times as much as the others. */
export async function throttled(setting: Setting, sheet: Sheet, demand: Demand): Promise<void> {
  const { spaces, tracker, cloud, signal } = setting;
  const operator = await setting.startOperator();
  await until(() => operator.isReady(), 'the operator is ready', TIMEOUT_MS, signal);
  await untilQuiet(setting);
  const [noisy = '', ...quiet] = spaces;
  const namesOf = (space: string, count: number) => Array.from({ length: count }, (_, index) => `${space}-${index}`);
  const wanted = spaces.map((space) => ({
    space,
    names: namesOf(space, space === noisy ? demand.noisy : demand.quiet),
  }));
  const all = wanted.flatMap(({ names }) => names);
  const before = (await cloud.journal()).length;
  // All clusters exist before the operator sees the first, which is the noisy space's. Otherwise the first to come would get most.
  process.kill(operator.pid, 'SIGSTOP');
  for (const { space, names } of wanted) await setting.createClusters(names, space);
  const begin = Date.now();
  process.kill(operator.pid, 'SIGCONT');
  const isDone = () => all.every((name) => tracker.readyAt(name) !== undefined);
  const timeoutMs = TIMEOUT_MS + (all.length / REQUESTS_PER_SECOND) * 10_000;
  await tracker.until(isDone, `${all.length} clusters are Ready`, timeoutMs, signal);
  const tookS = (Math.max(...all.map((name) => tracker.readyAt(name) ?? 0)) - begin) / 1000;

  const journal = (await cloud.journal()).slice(before);
  const deploys = journal.filter(({ deploys, status }) => deploys && status < 300);
  const waits = deploys.filter(({ space }) => quiet.includes(space)).map(({ at }) => at - begin);
  const served = servedWhileContended(
    deploys.map(({ space: who, at }) => ({ who, at })),
    spaces,
  );
  const fairShareMs = ((demand.quiet * SPACES) / REQUESTS_PER_SECOND) * 1000;
  sheet.add('clusters', all.length, 'count');
  sheet.add('requests', journal.length, 'count');
  const good = journal.filter(({ status }) => status >= 200 && status < 300).length;
  sheet.addAtLeast('goodput: requests that succeed', good / journal.length, 'share', GOODPUT_TARGET);
  sheet.addAtLeast("fairness of deploys over spaces (Jain's index)", jain(served), 'share', JAIN_TARGET);
  sheet.add('quiet spaces, seen → deployed, p50', percentile(waits, 0.5), 'ms');
  sheet.add('quiet spaces, seen → deployed, p99', percentile(waits, 0.99), 'ms', fairShareMs * WAIT_SHARE);
  sheet.add('all Ready', tookS, 's');
}
