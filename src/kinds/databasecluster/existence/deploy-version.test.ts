import { describe, expect, it } from 'vitest';
import { type KindBench, kindBench } from '../../../../test/support/kind-bench.ts';

describe('A DatabaseCluster of a version that the space does not list', () => {
  const versions = ['3.4.0'];
  const asked = (bench: KindBench) => bench.calls.filter((call) => call === 'versions' || call === 'deploy');

  it('is deployed if the cloud has it now', async () => {
    const bench = await kindBench({ versions });
    await bench.until('True Running');
    expect(asked(bench)).toEqual(['versions', 'deploy']);
  });

  it('is deployed if the cloud does not list its versions', async () => {
    const bench = await kindBench({ versions });
    bench.simulator.faults.add({ match: { operation: 'listVersions' }, effect: 'errorBefore', status: 503 });
    await bench.until('True Running');
    expect(asked(bench)).toContain('versions');
  });

  it('is not asked for if the cloud lacks it, and no record is left behind', async () => {
    const bench = await kindBench({ versions, spec: { version: '9.9.9' } });
    await bench.pass();
    await bench.pass();
    expect(bench.ready()).toBe('False InvalidSpec');
    expect(asked(bench)).toEqual(['versions']);
    expect(bench.told.at(-1)).toMatch(/spec\.version cannot be "9\.9\.9", which the cloud does not have: .*3\.5\.0/);
    expect(bench.status().operation).toBeUndefined();
  });

  it('is judged by the cloud alone if an earlier deploy may have been accepted', async () => {
    const known = ['9.9.9'];
    const bench = await kindBench({ versions: known, spec: { version: '9.9.9' } });
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'reset', times: 1 });
    while (!bench.calls.includes('deploy')) await bench.pass();
    known.splice(0, 1, ...versions);
    for (let pass = 0; bench.simulator.count('deploy') < 2 && pass < 20; pass++) {
      await bench.pass();
      await bench.clock.advance(10_000);
    }
    expect(asked(bench)).toEqual(['deploy', 'deploy']);
  });

  it.each([
    ['latest', versions],
    ['3.5.0', ['3.5.0']],
    ['3.5.0', undefined],
  ] as const)('costs no call if it is %s of %j', async (version, known) => {
    const bench = await kindBench({ spec: { version }, ...(known === undefined ? {} : { versions: known }) });
    await bench.until('True Running');
    expect(asked(bench)).toEqual(['deploy']);
  });
});
