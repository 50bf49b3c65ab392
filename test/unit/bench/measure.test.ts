import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countRequests, difference, total } from '../../bench/measure/kube-requests.ts';
import { percentile } from '../../bench/measure/percentile.ts';
import { canLookAtProcesses, cpuSeconds, memoryOf, trafficOf } from '../../bench/measure/process.ts';
import { samplesOf, sumOf } from '../../bench/measure/prometheus.ts';

describe('percentile()', () => {
  it('takes the nearest rank', () => {
    const values = [40, 10, 30, 20];
    expect([0, 0.25, 0.5, 0.51, 0.99, 1].map((p) => percentile(values, p))).toEqual([10, 10, 20, 30, 40, 40]);
  });

  it('refuses to say anything of nothing', () => {
    expect(() => percentile([], 0.5)).toThrow('no values');
  });
});

describe('samplesOf()', () => {
  it('reads labels with quotes and braces in them', () => {
    const text = '# HELP a b\na_total{x="1",y="say \\"}\\""} 2.5e+06\nb_total 7\na_total 1\n';
    expect([...samplesOf(text, new Set(['a_total']))]).toEqual([
      { name: 'a_total', labels: { x: '1', y: 'say \\"}\\"' }, value: 2_500_000 },
      { name: 'a_total', labels: {}, value: 1 },
    ]);
    expect(sumOf(text, 'a_total', { x: '1' })).toBe(2_500_000);
  });
});

describe('countRequests()', () => {
  const line = (verb: string, resource: string, subresource: string, code: string, count: number) =>
    `apiserver_request_total{code="${code}",resource="${resource}",subresource="${subresource}",verb="${verb}"} ${count}`;

  it('tells status writes from others, refused ones from both, and leaves out what is not ours', () => {
    const text = [
      line('PATCH', 'databaseclusters', '', '200', 3),
      line('PATCH', 'databaseclusters', 'status', '200', 9),
      line('PATCH', 'databaseclusters', 'status', '409', 2),
      line('POST', 'secrets', '', '201', 4),
      line('GET', 'secrets', '', '200', 5),
      line('LIST', 'secrets', '', '200', 1),
      line('PUT', 'leases', '', '200', 100),
    ].join('\n');
    const counted = countRequests(text);
    expect(Object.fromEntries(counted.writes)).toEqual({
      databaseclusters: 3,
      'databaseclusters/status': 9,
      secrets: 4,
    });
    expect(counted.refused).toBe(2);
    expect(Object.fromEntries(counted.reads)).toEqual({ secrets: 5 });
    const more = countRequests(`${text}\n${line('PATCH', 'databasespaces', 'status', '200', 1)}`);
    expect(total(difference(counted, more).writes)).toBe(1);
  });
});

describe.runIf(canLookAtProcesses)('a process seen from outside', () => {
  it('has used CPU and memory', () => {
    expect(cpuSeconds(process.pid)).toBeGreaterThan(0);
    const { residentMB, peakMB } = memoryOf(process.pid);
    expect(residentMB).toBeGreaterThan(10);
    expect(peakMB).toBeGreaterThanOrEqual(residentMB);
  });

  it('has read and written', () => {
    const before = trafficOf(process.pid);
    writeFileSync('/dev/null', 'x'.repeat(10_000));
    const after = trafficOf(process.pid);
    expect(after.writtenBytes - before.writtenBytes).toBeGreaterThanOrEqual(10_000);
    expect(after.readBytes).toBeGreaterThan(before.readBytes);
  });
});
