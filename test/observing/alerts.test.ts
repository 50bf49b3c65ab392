import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { promtool } from '../../tools/prometheus/prometheus.ts';
import { ROOT, readDocument } from '../support/readme.ts';
import { ALERTS, alerts } from './files.ts';

const BUILD_MS = 10 * 60_000;
const CASES = 'test/observing/alerts.yaml';

describe('alerts', { timeout: BUILD_MS }, () => {
  test('can be read by Prometheus, which has nothing to complain about', async () => {
    const { code, stdout, stderr } = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', ALERTS], {
      cwd: ROOT,
      log: console.log,
    });
    expect({ code, stderr, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('rules found') });
  });

  test('fire when they should, and only then', async () => {
    const { code, stdout, stderr } = await promtool(['test', 'rules', join(ROOT, CASES)], { log: console.log });
    expect(code, stdout + stderr).toBe(0);
  });
});

test('Each alert has a case in which it fires, one just before, and one in which all is well', () => {
  type Case = { readonly alert_rule_test: readonly { alertname: string; exp_alerts?: readonly unknown[] }[] };
  const { tests } = load(readDocument(CASES)) as { tests: readonly Case[] };
  const names = alerts().map(({ alert }) => alert);
  const [well, ...others] = tests;
  expect(well?.alert_rule_test.map(({ alertname }) => alertname)).toEqual(names);
  const rest = others.flatMap((each) => each.alert_rule_test);
  for (const name of names) {
    const own = rest.filter(({ alertname }) => alertname === name).map(({ exp_alerts }) => exp_alerts !== undefined);
    expect([name, new Set(own)]).toEqual([name, new Set([true, false])]);
  }
});

test('Each alert says how bad it is, and has a runbook in docs/alerts.md', () => {
  const chapters = [...readDocument('docs/alerts.md').matchAll(/^## (\w+)\n\n\S/gm)].map(([, name]) => name);
  expect(chapters).toEqual(alerts().map(({ alert }) => alert));
  for (const { alert, labels, annotations } of alerts()) {
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(annotations).toMatchObject({
      summary: expect.stringMatching(/\w$/),
      description: expect.stringMatching(/\.$/),
    });
    expect(annotations['runbook_url']).toBe(`https://mooring.dev/docs/alerts#${alert.toLowerCase()}`);
  }
});
