import { describe, expect, it, vi } from 'vitest';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { addressOf, clusterNamed } from '../../../test/support/simulator.ts';
import type { Dialect } from '../../simulator/dialect.ts';

const PROVISION = { provisionMs: [20_000, 20_000] } as const;

const isServerCall = (call: string) => call.startsWith('server ');
const count = (bench: KindBench, call: string) => bench.calls.filter((other) => other === call).length;

describe('A DatabaseCluster', () => {
  it.each<Dialect>(['document', 'field'])(
    'is deployed and secured with as few calls as possible (%s)',
    async (dialect) => {
      const bench = await kindBench({ dialect, knobs: PROVISION });
      await bench.until('True Running');
      expect(count(bench, 'deploy')).toBe(1);
      expect(bench.calls.filter(isServerCall)).toEqual([
        'server signIn',
        'server updateUser',
        'server signIn',
        'server signIn',
      ]);
      expectOneWorkingLogin(bench);
      expect(bench.status()).toMatchObject({
        state: 'running',
        endpoint: `https://${addressOf(bench.simulator, 'orders')}`,
      });
      expect(bench.status().operation).toBeUndefined();
    },
  );

  describe('of a version that the space does not list', () => {
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
      for (let pass = 0; count(bench, 'deploy') < 2 && pass < 20; pass++) {
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

  it('names the Secrets of the space if its token is refused', async () => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 401 });
    await bench.edit({ storageSizeGB: 200 });
    await bench.pass();
    expect(bench.ready()).toBe('Unknown CloudUnreachable');
    expect(bench.told.at(-1)).toContain('though it was exchanged a moment ago');
    await bench.clock.advance(130_000);
    await bench.pass();
    expect(bench.ready()).toBe('False CredentialsInvalid');
    expect(bench.told.at(-1)).toMatch(
      /API tokens of DatabaseSpace "production", in the Secrets "cloud-read", "cloud-write", "cloud-admin"$/,
    );
    expect(bench.status().lastError).toMatchObject({ operation: 'update', httpStatus: 401 });
  });

  it('costs no call while nothing changes', async () => {
    const bench = await runningBench();
    for (let pass = 0; pass < 5; pass++) expect((await bench.pass()).next).toBe('settled');
    expect(bench.calls).toEqual([]);
  });

  it.each(['lostAnswer', 'reset', 'truncated'] as const)(
    'is deployed once even if the answer is %s',
    async (effect) => {
      const bench = await kindBench({ knobs: PROVISION });
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it.each(['lostAnswer', 'reset'] as const)(
    'is deployed once even if the process ends with the answer %s',
    async (effect) => {
      const bench = await kindBench({ knobs: PROVISION });
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect, times: 1 });
      await bench.pass();
      await bench.pass();
      await bench.restart();
      await bench.until('True Running');
      expectOneWorkingLogin(bench);
    },
  );

  it('is deployed once even if the answer was not recorded', async () => {
    const bench = await kindBench({ knobs: PROVISION });
    await bench.pass();
    bench.crashAt({ verb: 'patch', plural: 'databaseclusters', when: 'before' });
    await expect(bench.pass()).rejects.toThrow('ends here');
    await bench.restart();
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(1);
  });

  it('does not treat a cluster as its own that appeared between the look and the call', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.deployForeign({ id: 'orders', storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' });
    await bench.until('False ClusterIDInUse');
    expect(bench.status().createdAt).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
  });

  it('is not cloned if a cluster appeared between the look and the call', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    const properties = { storageSizeGB: 100, machineType: 'c2d-highcpu-4', version: '3.5.0' };
    bench.simulator.deployForeign({ id: 'source', ...properties });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    bench.simulator.deployForeign({ id: 'orders', ...properties });
    await bench.until('False ClusterIDInUse');
    expect(count(bench, 'clone')).toBe(0);
  });

  it('is not cloned from another cluster that has taken the id of its source since the look', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' } } });
    bench.simulator.deployForeign({ id: 'source' });
    const { poller } = bench.world().connections.get('shop/production') ?? {};
    await poller?.refresh();
    await bench.pass();
    bench.simulator.replaceCluster('source');
    await bench.pass();
    expect([bench.ready(), count(bench, 'clone')]).toEqual(['Unknown WaitingForSource', 0]);
  });

  it.each([400, 403])(
    'does not treat a cluster as its own after its deploy was refused with %i and a restart',
    async (status) => {
      const bench = await kindBench();
      bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status });
      await bench.pass();
      await bench.pass();
      const once = count(bench, 'deploy');
      const refused = bench.ready();
      expect(refused).toMatch(/^False /);
      expect(bench.status().operation).toBeUndefined();
      // It is tried again without any change that people see.
      for (let pass = 0; pass < 4; pass++) {
        await bench.pass();
        expect(bench.ready()).toBe(refused);
      }
      expect(count(bench, 'deploy')).toBe(3 * once);
      bench.simulator.faults.clear();
      bench.simulator.deployForeign({
        id: 'orders',
        storageSizeGB: 100,
        machineType: 'c2d-highcpu-4',
        version: '3.5.0',
      });
      await bench.restart();
      await bench.until('False ClusterIDInUse');
      expect(bench.status().createdAt).toBeUndefined();
    },
  );

  it('does not treat an older cluster as its own after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'reset', times: 1 });
    await bench.pass();
    await bench.clock.advance(1000);
    bench.simulator.deployForeign({ id: 'orders', region: 'us-east1' });
    await bench.until('False ClusterIDInUse');
  });

  it('recognizes its cluster when the id is in use after a lost answer', async () => {
    const bench = await kindBench();
    await bench.pass();
    const { faults } = bench.simulator;
    faults.add({ match: { operation: 'deploy' }, effect: 'lostAnswer', times: 1 });
    faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 404, times: 1 });
    await bench.until('True Running');
    expect(count(bench, 'deploy')).toBe(2);
    expectOneWorkingLogin(bench);
  });

  it('asks for its backup settings again once it takes over another cluster', async () => {
    const backup = { frequency: 'hourly', retentionDays: 30 };
    const bench = await runningBench({ spec: { backup } });
    bench.simulator.replaceCluster('orders');
    const { poller } = bench.world().connections.get('shop/production') ?? {};
    await poller?.refresh();
    await bench.until('False IdentityChanged');
    const createdAt = poller?.get('orders')?.createdAt ?? 0;
    await bench.annotate('mooring.dev/accept-identity', new Date(createdAt).toISOString());
    await bench.until('True Running');
    expect(count(bench, 'update')).toBe(1);
    expect(bench.status()).toMatchObject({ backup });
  });

  it('goes to the new id when the cloud refused the old one', async () => {
    const bench = await kindBench();
    bench.simulator.faults.add({ match: { operation: 'deploy' }, effect: 'errorBefore', status: 400, times: 1 });
    await bench.pass();
    await bench.pass();
    expect(bench.ready()).toBe('False RefusedByCloud');
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(bench.simulator.count('deploy', 'orders'), 'the refused one').toBe(1);
    expect(bench.status().clusterID).toBe('orders-eu');
  });

  it('is cloned, and gets the backup settings that cannot be part of the request for a clone', async () => {
    const bench = await kindBench({ spec: { cloneFrom: { clusterID: 'source' }, backup: { frequency: 'hourly' } } });
    bench.simulator.deployForeign({
      id: 'source',
      storageSizeGB: 100,
      machineType: 'c2d-highcpu-4',
      version: '3.5.0',
      provider: 'gcp',
      region: 'europe-west2',
    });
    await bench.until('True Running');
    expect([count(bench, 'clone'), count(bench, 'deploy'), count(bench, 'update')]).toEqual([1, 0, 1]);
    expect(bench.status().backup).toEqual({ frequency: 'hourly', retentionDays: 7 });
  });
});

describe('A change of a DatabaseCluster', () => {
  const updates = (bench: KindBench) =>
    bench.simulator.inspect().requests.filter(({ operation }) => operation === 'update').length;

  it('sends what differs, once', async () => {
    const bench = await runningBench();
    await bench.edit({ storageSizeGB: 200 });
    await bench.until('True Running');
    expect(updates(bench)).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 200 });
    expect(bench.corrected).toEqual([]);
    expect(bench.status().drift).toBeUndefined();
  });

  it.each(['lostAnswer', 'errorAfter'] as const)(
    'of its backups is asked for even if it is taken back, once nobody knows which settings hold (%s)',
    async (effect) => {
      const daily = { frequency: 'daily', retentionDays: 7 };
      const bench = await runningBench({ spec: { backup: daily, driftPolicy: 'Report' } });
      bench.simulator.faults.add({ match: { operation: 'update' }, effect, times: 1 });
      await bench.edit({ backup: { frequency: 'hourly', retentionDays: 30 } });
      await bench.pass();
      expect(bench.status().backup).toBeUndefined();
      expect(clusterNamed(bench.simulator, 'orders')?.backup).toMatchObject({ frequency: 'hourly' });
      await bench.edit({ backup: daily });
      await bench.until('True Running');
      expect(clusterNamed(bench.simulator, 'orders')?.backup).toEqual(daily);
      expect(bench.status().backup).toEqual(daily);
    },
  );

  it('writes no status for a spec that was changed again while the change was requested', async () => {
    const bench = await runningBench();
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const { update } = client;
    vi.spyOn(client, 'update').mockImplementationOnce(async (...args) => {
      const answer = await update.apply(client, args);
      await bench.edit({ storageSizeGB: 300 });
      return answer;
    });
    await bench.edit({ storageSizeGB: 200 });
    const writes = vi.spyOn(bench.kube, 'patch');
    await bench.pass();
    // It was refused, as the object had changed.
    expect(writes.mock.calls.filter(([, , , options]) => options?.subresource === 'status')).toHaveLength(1);
    await bench.until('True Running');
    expect(bench.status().observed).toMatchObject({ storageSizeGB: 300 });
    expect(updates(bench)).toBe(2);
  });

  it('undoes drift, and counts it', async () => {
    const bench = await runningBench();
    bench.simulator.changeCluster('orders', { machineType: 'c2d-highcpu-8' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('True Running');
    expect(bench.corrected).toEqual(['machineType']);
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ machineType: 'c2d-highcpu-4' });
  });

  it('reports drift, and takes care of the login all the same', async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    bench.simulator.changeCluster('orders', { storageSizeGB: 200 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False Drifted');
    expect(bench.status().drift).toEqual([{ field: 'storageSizeGB', desired: '100', observed: '200' }]);
    expect(updates(bench)).toBe(0);
    await bench.edit({ storageSizeGB: 300 });
    await bench.until('True Running');
    expect(bench.status().drift).toBeUndefined();
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ storageSizeGB: 300 });
  });

  it.each(['none', 'lostAnswer'] as const)('renames (%s)', async (effect) => {
    const bench = await runningBench();
    if (effect !== 'none') bench.simulator.faults.add({ match: { operation: 'update' }, effect, times: 1 });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.until('True Running');
    expect(bench.status()).toMatchObject({ clusterID: 'orders-eu' });
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
    expectOneWorkingLogin(bench, 'orders-eu');
  });

  it.each<Dialect>(['document', 'field'])('suspends and resumes (%s)', async (dialect) => {
    const bench = await runningBench({ dialect, knobs: { suspendMs: [5_000, 5_000], resumeMs: [5_000, 5_000] } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    expect(bench.corrected).toEqual([]);
    expectOneWorkingLogin(bench);
  });

  it.each([
    ['storage', { storageSizeGB: 200 }, 'Updating: Cluster "orders" is being changed: storageSizeGB from 100 to 200'],
    [
      'machine type',
      { machineType: 'c2d-highcpu-8' },
      'Updating: Cluster "orders" is being changed: machineType from c2d-highcpu-4 to c2d-highcpu-8',
    ],
    [
      'backup',
      { backup: { frequency: 'hourly', retentionDays: 30 } },
      'Updating: Cluster "orders" is being changed: backup from daily, kept 7 days to hourly, kept 30 days',
    ],
    [
      'id',
      { clusterID: 'orders-eu' },
      'Updating: Cluster "orders" is being changed: clusterID from orders to orders-eu',
    ],
    [
      'several fields',
      { storageSizeGB: 200, machineType: 'c2d-highcpu-8' },
      'Updating: Cluster "orders" is being changed: machineType from c2d-highcpu-4 to c2d-highcpu-8, storageSizeGB from 100 to 200',
    ],
  ])('reports a change of %s once, with its old and its new value', async (_what, spec, event) => {
    const bench = await runningBench();
    await bench.edit(spec);
    await bench.until('True Running');
    expect(bench.told).toEqual([event, expect.stringMatching(/^Running: /)]);
  });

  it('reports a change of state once, with its old and its new value', async () => {
    const bench = await runningBench({ knobs: { suspendMs: [5_000, 5_000], resumeMs: [5_000, 5_000] } });
    await bench.edit({ state: 'Suspended' });
    await bench.until('True Suspended');
    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    expect(bench.told.map((event) => event.split(': ', 1)[0])).toEqual([
      'Suspending',
      'Suspended',
      'Resuming',
      'Running',
    ]);
    expect(bench.told[0]).toContain('state from Running to Suspended');
    expect(bench.told[2]).toContain('state from Suspended to Running');
  });

  it('reports what drifted with driftPolicy Report, with both values', async () => {
    const bench = await runningBench({ spec: { driftPolicy: 'Report' } });
    bench.simulator.changeCluster('orders', { storageSizeGB: 150 });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False Drifted');
    expect(bench.told).toEqual([expect.stringContaining('storageSizeGB is 150, should be 100')]);
  });
});
