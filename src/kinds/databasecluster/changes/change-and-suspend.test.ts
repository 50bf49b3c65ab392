import { describe, expect, it } from 'vitest';
import { aCluster, anObservation, CREATED_AT, NOW_MS, outline } from '../../../../test/support/builders.ts';
import { runningBench } from '../../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../../test/support/simulator.ts';
import { decideCluster } from '../decide.ts';

/** The spec has changed since the last pass. */
const changed = (spec: Readonly<Record<string, unknown>>) => aCluster().healthy().generation(2).with(spec);
const FACTORY = { working: 'factory', secretVersion: undefined, factoryAlive: undefined } as const;

const cases = [
  {
    name: 'changes a cluster that should be suspended while it still runs',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Update'] },
  },
  {
    name: 'renames a cluster that should be suspended while it still runs',
    given: changed({ state: 'Suspended', clusterID: 'orders-eu' }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Rename'] },
  },
  {
    name: 'suspends a cluster whose change was refused',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }).withStatus({
      observedGeneration: 2,
      lastError: { operation: 'update', message: 'Too large', time: CREATED_AT },
    }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'suspends a cluster if the look for its new name was refused',
    given: changed({ state: 'Suspended', clusterID: 'orders-eu' }).withStatus({
      observedGeneration: 2,
      lastError: { operation: 'get', message: 'Not allowed', time: CREATED_AT },
    }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'suspends a cluster whose renaming was refused',
    given: changed({ state: 'Suspended', clusterID: 'orders-eu' }).withStatus({
      observedGeneration: 2,
      lastError: { operation: 'update', message: 'Not allowed', time: CREATED_AT },
    }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'changes a cluster first even if a look at it failed',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }).withStatus({
      observedGeneration: 2,
      lastError: { operation: 'get', message: 'Not allowed', time: CREATED_AT },
    }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Update'] },
  },
  {
    name: 'suspends a cluster whose change does not show',
    given: changed({ state: 'Suspended', storageSizeGB: 200 })
      .withCondition('Ready', 'Unknown', 'UpdateNotApplied')
      .withStatus({
        observedGeneration: 2,
        lastError: { operation: 'Reconcile', message: 'It came to nothing', time: CREATED_AT },
      }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'suspends a cluster whose rename does not show, even if only for a moment',
    given: changed({ state: 'Suspended', clusterID: 'orders-eu' })
      .withCondition('Ready', 'Unknown', 'Updating')
      .withStatus({
        observedGeneration: 2,
        lastError: { operation: 'Reconcile', message: 'It is not shown', time: CREATED_AT },
      }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'changes a cluster first even if another change was refused before',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }).withStatus({
      observedGeneration: 1,
      lastError: { operation: 'update', message: 'Too large', time: CREATED_AT },
    }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Update'] },
  },
  {
    name: 'suspends a cluster whose suspension was accepted, even if the outcome of the change is no longer reported',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }).withStatus({ observedGeneration: 2 }),
    seen: anObservation()
      .with({ notShown: { reason: 'Suspending', message: '' } })
      .login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'changes a cluster whose suspension was accepted if the spec has changed since',
    given: changed({ state: 'Suspended', storageSizeGB: 200 }).withStatus({ observedGeneration: 1 }),
    seen: anObservation()
      .with({ notShown: { reason: 'Suspending', message: '' } })
      .login({ login: 'notTried' }),
    thus: { steps: ['Update'] },
  },
  {
    name: 'suspends a cluster that cannot become as the spec says',
    given: changed({ state: 'Suspended', storageSizeGB: 50 }),
    seen: anObservation().login({ login: 'notTried' }),
    thus: { steps: ['Suspend'] },
  },
  {
    name: 'retires the factory login before it changes a clone that should be suspended',
    given: aCluster().with({ state: 'Suspended', storageSizeGB: 200 }).owned(),
    seen: anObservation().tried(FACTORY),
    thus: { steps: ['PreparePassword'] },
  },
] as const;

describe('decideCluster(), for a cluster that runs and should be suspended and changed,', () => {
  it.each(cases)('$name', ({ given, seen, thus }) => {
    expect(outline(decideCluster(given.subject, seen.seen, NOW_MS))).toMatchObject(thus);
  });
});

describe('A DatabaseCluster that should be suspended and changed', () => {
  it('is changed first, and is suspended all the same if the change is refused', async () => {
    const bench = await runningBench();
    await bench.edit({ state: 'Suspended', storageSizeGB: 200 });
    await bench.until('True Suspended');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ status: 'suspended', storageSizeGB: 200 });
    expect(bench.calls.filter((call) => call === 'update' || call === 'suspend')).toEqual(['update', 'suspend']);

    await bench.edit({ state: 'Running' });
    await bench.until('True Running');
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 400 });
    await bench.edit({ state: 'Suspended', storageSizeGB: 300 });
    for (let pass = 0; pass < 8; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.ready()).toBe('False RefusedByCloud');
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ status: 'suspended', storageSizeGB: 200 });
  });

  it('is suspended if it cannot be seen whether its new name is free', async () => {
    const bench = await runningBench();
    const match = { operation: 'get', clusterID: 'orders-eu' };
    bench.simulator.faults.add({ match, effect: 'errorBefore', status: 403 });
    await bench.edit({ state: 'Suspended', clusterID: 'orders-eu' });
    for (let pass = 0; pass < 8; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(bench.calls).toContain('suspend');
    expect(clusterNamed(bench.simulator, 'orders')?.status).toBe('suspended');
  });
});

describe('A DatabaseCluster that the cloud says is busy (409)', () => {
  it.each([
    ['suspend', {}, { state: 'Suspended' }, 'Unknown Suspending', 'True Suspended'],
    ['resume', { state: 'Suspended' }, { state: 'Running' }, 'Unknown Resuming', 'True Running'],
    ['update', {}, { storageSizeGB: 200 }, 'Unknown Updating', 'True Running'],
  ])('is asked again soon to %s, and says why it waits', async (operation, before, spec, waits, done) => {
    const bench = await runningBench();
    await bench.edit(before);
    await bench.until('state' in before ? 'True Suspended' : 'True Running');
    const busy = { match: { operation }, effect: 'errorBefore', status: 409 } as const;
    const fault = bench.simulator.faults.add(busy);
    await bench.edit(spec);
    expect(await bench.pass()).toMatchObject({ next: 'failed', failure: { lasting: 'transient', mayPass: false } });
    expect(bench.ready()).toBe(waits);
    const [condition] = bench.status().conditions ?? [];
    expect(condition?.message).toMatch(/HTTP 409.*may be busy with something else, so Mooring tries again/);
    expect(bench.status().lastError).toMatchObject({ operation, httpStatus: 409 });
    bench.simulator.faults.remove(fault);
    await bench.until(done);
    expect(bench.status().lastError).toBeUndefined();
  });

  it('is not asked again soon to take a name, as another cluster may have it', async () => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 409 });
    await bench.edit({ clusterID: 'orders-eu' });
    expect(await bench.pass()).toMatchObject({ next: 'failed', failure: { lasting: 'terminal' } });
  });

  it('is suspended first if it is too busy to be changed before', async () => {
    const bench = await runningBench();
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 409 });
    await bench.edit({ state: 'Suspended', storageSizeGB: 200 });
    for (let pass = 0; pass < 8; pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
    expect(clusterNamed(bench.simulator, 'orders')).toMatchObject({ status: 'suspended', storageSizeGB: 100 });
    expect(bench.ready()).toBe('Unknown Updating');
  });
});
