import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Prometheus, startPrometheus } from '../../../tools/prometheus/prometheus.ts';
import { waitUntil } from '../../support/control-plane.ts';
import { cluster, database, secret, space, user, wholeSpace } from '../../support/manifests.ts';
import { type OperatorBench, startBench } from '../../support/operator-bench.ts';
import { readDocument } from '../../support/readme.ts';
import type { Site } from '../../support/site.ts';
import { type Query, queries } from '../dashboard.ts';
import { ALERTS, alerts } from '../files.ts';

/* The real Prometheus, with the labels that a ServiceMonitor gives, scrapes the real operator. */

const BUILD_MS = 15 * 60_000;
const OWN = { namespace: 'mooring-system' };

let bench: OperatorBench;
let prometheus: Prometheus;
let site: Site;
let leaveSite: () => Promise<void>;
const ends: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  bench = await startBench(1);
  ends.push(() => bench.close());
  const onTestFinished = (run: () => Promise<void>) => {
    leaveSite = run;
  };
  site = await bench.site({ onTestFinished });
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  // At once instead of after minutes; the times are tested with promtool.
  const rules = join(folder, 'alerts.yaml');
  const atOnce = readDocument(ALERTS).replaceAll(/^( +)for: \w+$/gm, '$1for: 0s');
  expect(atOnce).toContain(') > 2700\n');
  writeFileSync(rules, atOnce.replace(') > 2700\n', ') > 0\n'));
  const { metrics } = await bench.operator.addresses;
  prometheus = await startPrometheus({ targets: [metrics], labels: OWN, rules: [rules], log: console.log });
  ends.push(() => prometheus.stop());
}, BUILD_MS);

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

async function query(expr: string): Promise<readonly Sample[]> {
  const { result } = (await prometheus.get(`query?query=${encodeURIComponent(expr)}`)) as { result: readonly Sample[] };
  return result;
}

/** Alerts that fire now, as `name: labels`. */
async function firing(): Promise<readonly string[]> {
  const { alerts: all } = (await prometheus.get('alerts')) as {
    alerts: readonly { labels: Readonly<Record<string, string>>; state: string }[];
  };
  return all
    .map(({ labels: { alertname, severity: _, job: __, namespace: ___, ...rest } }) =>
      [alertname, ...Object.entries(rest).map(([name, value]) => `${name}=${value}`)].join(' '),
    )
    .toSorted();
}

async function fires(expected: readonly string[]): Promise<void> {
  let found: readonly string[] = [];
  const check = async () => {
    found = await firing();
    return JSON.stringify(found) === JSON.stringify(expected);
  };
  await waitUntil(check, { what: 'these alerts fire, and no other' }).catch(() => expect(found).toEqual(expected));
}

test('Nothing fires while all is well, and the dashboard shows it', async () => {
  await site.apply(...wholeSpace(site.cloud), cluster(), user(), database());
  await site.ready();
  site.cloud.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-2' });
  await waitUntil(async () => (await query('mooring_drift_corrected_total > 0')).length > 0, { what: 'drift is seen' });
  await site.ready();
  await fires([]);

  // Whether a request fails in between is up to chance.
  const expected = ['Objects: Not ready now', 'Objects: Longest without being ready'];
  const isEmpty = async ({ panel, expr }: Query) => !panel.endsWith('Failures') && (await query(expr)).length === 0;
  let empty: readonly string[] = [];
  const asExpected = async () => {
    const all = await Promise.all(queries().map(async (each) => ({ ...each, empty: await isEmpty(each) })));
    empty = all.filter((each) => each.empty).map(({ panel }) => panel);
    return empty.length === expected.length;
  };
  // A rate takes two scrapes.
  await waitUntil(asExpected, { what: 'every panel has series', timeoutMs: 10_000 }).catch(() => {});
  expect(empty).toEqual(expected);
});

test('Series have the labels that alerts and their texts rely on', async () => {
  const notObserved = alerts().find(({ alert }) => alert === 'MooringSpaceNotObserved')?.expr ?? '';
  const [found] = await query(notObserved.replace('> 840', '> -900'));
  expect(found?.metric).toEqual({
    ...OWN,
    job: 'mooring',
    exported_namespace: site.namespace,
    name: 'production',
  });
  const hangs = alerts().find(({ alert }) => alert === 'MooringPassHangs')?.expr ?? '';
  const names = (await query(hangs.replace('> 300', '>= 0'))).map(({ metric }) => metric['name']);
  expect(names.toSorted()).toEqual(expect.arrayContaining(['databasecluster', 'databasespace']));
});

test('Alerts fire for what goes wrong, with reason and kind', async () => {
  const { simulator } = site.cloud;
  simulator.deployForeign({ id: 'taken' });
  await site.apply(cluster({}, {}, 'taken'), cluster({ deletionProtection: true }));
  await site.remove('DatabaseCluster', 'orders');
  // It runs, but its servers take long: nobody can verify that the factory login is refused.
  simulator.setKnobs({ serverLagMs: [600_000, 600_000] });
  await site.apply(cluster({}, {}, 'slow'));
  await site.until('DatabaseCluster', { reason: 'WaitingForServer' }, 'slow');
  await fires([
    'MooringClusterStalled reason=ClusterIDInUse',
    'MooringDeletionBlocked kind=DatabaseCluster reason=DeletionProtected',
    'MooringFactoryPasswordAlive',
    'MooringObjectNotReady kind=DatabaseCluster reason=WaitingForServer',
  ]);
});

test('Tokens that the cloud refuses fire an alert', async () => {
  await site.apply(space(site.cloud), secret('cloud-write', { clientID: 'write-id', clientSecret: 'no-such-secret' }));
  await site.until('DatabaseSpace', { status: 'False', reason: 'CredentialsInvalid' });
  await waitUntil(async () => (await firing()).includes('MooringCredentialsInvalid reason=CredentialsInvalid'), {
    what: 'MooringCredentialsInvalid fires',
  });
});

test('An operator that is gone fires an alert', async () => {
  await leaveSite();
  await bench.operator.stop();
  await waitUntil(async () => (await firing()).includes('MooringAbsent'), { what: 'MooringAbsent fires' });
});
