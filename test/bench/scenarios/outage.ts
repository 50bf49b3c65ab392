import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASE_CLUSTERS } from '../../../src/kinds/databasecluster/resource.ts';
import type { Sheet } from '../figure.ts';
import { NAMESPACE } from '../manifests.ts';
import { mostInOneSecond } from '../measure/journal.ts';
import { total } from '../measure/kube-requests.ts';
import { eachOf, type Setting } from '../setting.ts';
import { untilQuiet } from '../wait.ts';
import { since } from './since.ts';

const TIMEOUT_MS = 180_000;
/** "at most one probe per 30 s and endpoint", rounded up, and the requests that were on their way when the outage began. */
const PROBE_EVERY_S = 30;
const AT_FIRST = 10;

/** How the cloud fails: the simulator's effect, and how many more requests are sent before the outage is noticed. */
export const OUTAGES = {
  'connections break': { effect: 'outage', more: 0 },
  'answers 503': { effect: '5xx', more: 0 },
  // Each is given up after 20 s, and others take its place until five have been given up.
  'never answers': { effect: 'hang', more: 4 },
} as const;

export type Outage = keyof typeof OUTAGES;
const RECOVERED_TARGET_S = 30;
/** The operator's own limit for any second (src/cloud/client.ts): it must not save up for the end of an outage. */
const REQUESTS_PER_SECOND = 50;
/** Plus the probe that found the end, and what waited during a block of the event loop, of 50 ms at most. */
const PEAK_TARGET = REQUESTS_PER_SECOND + 1 + Math.ceil(REQUESTS_PER_SECOND * 0.05);

/** S9: the cloud fails for a while, and meanwhile some clusters are changed. An hour is scaled down to `seconds`. */
export async function outage(
  setting: Setting,
  sheet: Sheet,
  names: readonly string[],
  seconds: number,
  kind: Outage,
): Promise<void> {
  const { api, cloud, tracker, signal } = setting;
  const { effect, more } = OUTAGES[kind];
  const end = await cloud.addFault({ effect, match: { api: 'cloud' } });
  const changes = await since(setting);
  const generations = new Map<string, number>();
  await eachOf(names, async (name) => {
    const patch = { spec: { storageSizeGB: 300 + 10 * Object.keys(OUTAGES).indexOf(kind) } };
    const { metadata } = await api.patch(DATABASE_CLUSTERS, { namespace: NAMESPACE, name }, patch, {}, signal);
    generations.set(name, metadata.generation ?? 0);
  });
  await sleep(seconds * 1000, undefined, { signal });
  const { kube, cloud: asked } = await changes();
  const requests = total(asked);
  const ours = new Map([...kube.writes].filter(([name]) => name.endsWith('/status')));
  sheet.add('time without the cloud', seconds, 's');
  sheet.add('clusters changed meanwhile', names.length, 'count');
  sheet.add('requests to it meanwhile', requests, 'count', Math.ceil(seconds / PROBE_EVERY_S) + AT_FIRST + more);
  sheet.add(
    'status writes, without those of the space',
    total(ours) - (ours.get('databasespaces/status') ?? 0),
    'count',
    names.length * 2,
  );

  await end();
  const begin = Date.now();
  const isReady = (name: string) => tracker.readyGeneration(name) === generations.get(name);
  await tracker.until(() => names.every(isReady), `${names.length} changed clusters are Ready`, TIMEOUT_MS, signal);
  const tookS = (Math.max(...names.map((name) => tracker.readyAt(name) ?? 0)) - begin) / 1000;
  sheet.add('end of the outage → all changes made', tookS, 's', RECOVERED_TARGET_S);
  const came = (await cloud.journal()).map(({ at }) => at).filter((at) => at >= begin);
  sheet.add('requests then, the most in one second', mostInOneSecond(came), 'count', PEAK_TARGET);
  await untilQuiet(setting);
}
