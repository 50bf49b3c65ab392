import { describe, expect, it } from 'vitest';
import {
  aCluster,
  aSpace,
  type ClusterBuilder,
  CREATED_AT,
  NOW_MS,
  outline,
  PLACE,
} from '../../../../test/support/builders.ts';
import { type KindBench, kindBench, runningBench } from '../../../../test/support/kind-bench.ts';
import { placesOf } from '../../../../test/support/places.ts';
import { actOnCluster } from '../act.ts';
import { decideCluster } from '../decide.ts';
import { observeCluster } from '../observe.ts';

const { signal } = new AbortController();
const BEFORE = { ...PLACE, baseURL: 'https://before.example.com' };
const FOREIGN = { id: 'orders', provider: 'gcp', region: 'europe-west2', version: '3.5.0' } as const;

/** What is seen and decided; the space now names PLACE, as its connection does. */
async function look(bench: KindBench, { subject }: ClusterBuilder) {
  bench.forgetCalls();
  const seen = await observeCluster({ ...bench.world(), claimants: () => [] }, subject, signal);
  return { seen, decision: decideCluster(subject, seen, NOW_MS) };
}

async function benchWithCluster() {
  const bench = await kindBench();
  bench.simulator.deployForeign(FOREIGN);
  await bench.world().connections.get('shop/production')?.poller.refresh();
  return { bench, createdAt: new Date(bench.clock.now()).toISOString() };
}

describe('A cluster whose DatabaseSpace now names another place', () => {
  const moved = aCluster().healthy().withStatus({ place: BEFORE });

  it('is looked for nowhere, and both places and the remedy are named', async () => {
    const bench = await kindBench();
    const { decision } = await look(bench, moved);
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', summary: 'Stalled', steps: [] });
    const [ready] = decision.conditions === 'keep' ? [] : decision.conditions;
    expect(ready?.message).toBe(
      'Cluster "orders" is in space "production" of team "acme" at https://before.example.com, but DatabaseSpace "production" ' +
        'now says space "production" of team "acme" at https://cloud.simulator.test: nothing is done in either. Set the ' +
        `space back, or, if that is the same cloud at another address, annotate mooring.dev/accept-identity=${CREATED_AT}`,
    );
    expect(bench.calls).toEqual([]);
  });

  it('is reported without a way to follow it if the cloud reports no creation time', async () => {
    const { decision } = await look(await kindBench(), moved.withStatus({ createdAt: 'unknown' }));
    expect(JSON.stringify(decision.conditions)).toMatch(/Set the space back"/);
  });

  it.each(['teamID', 'spaceID'])('also if %s differs: a space can be deleted and created again', async (field) => {
    const given = moved.withStatus({ place: { ...PLACE, [field]: 'other' } });
    expect(outline((await look(await kindBench(), given)).decision).ready).toBe('False SpaceMoved');
  });

  it('is not created again with recreatePolicy Always', async () => {
    const { decision } = await look(await kindBench(), moved.with({ recreatePolicy: 'Always' }));
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', steps: [] });
  });

  it.each(['Delete', 'Suspend'])('is not released with deletionPolicy %s', async (deletionPolicy) => {
    const { decision } = await look(await kindBench(), moved.with({ deletionPolicy }).deleting());
    expect(outline(decision)).toMatchObject({ ready: 'False DeletionBlocked', steps: [] });
    expect(decision.release).toBeUndefined();
    expect(JSON.stringify(decision.conditions)).toMatch(
      /before\.example\.com.*Set the space back.*mooring.dev\/abandon=true/,
    );
  });

  it('is released with deletionPolicy Retain', async () => {
    const { decision } = await look(await kindBench(), moved.with({ deletionPolicy: 'Retain' }).deleting());
    expect(outline(decision).released).toBe(true);
  });

  it('is waited for if only its deploy was asked for', async () => {
    const { decision } = await look(await kindBench(), aCluster().announced().withStatus({ place: BEFORE }));
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', steps: [] });
  });

  it('is deployed in the new place if nothing was asked for in the one before', async () => {
    const bench = await kindBench();
    const { startedAt, by } = { startedAt: CREATED_AT, by: bench.world().memory.attempts.self };
    const given = aCluster().withStatus({
      operation: { type: 'Deploy', target: 'orders', startedAt, by },
      place: BEFORE,
    });
    const { decision } = await look(bench, given);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Deploying', steps: [] });
    expect(decision.status).toMatchObject({ place: PLACE, operation: { target: 'orders' } });
  });

  it('is followed there if its owner says so and the very same cluster is there', async () => {
    const { bench, createdAt } = await benchWithCluster();
    const given = moved.withStatus({ createdAt }).annotated('accept-identity', createdAt);
    const { decision } = await look(bench, given);
    expect(decision).toMatchObject({ conditions: 'keep', status: { place: PLACE }, requeueAfterMs: 0 });
    expect(decision.steps).toBeUndefined();
  });

  it('is not followed if nobody knows when its cluster was created', async () => {
    const { bench } = await benchWithCluster();
    const given = moved.withStatus({ createdAt: 'unknown' }).annotated('accept-identity', 'unknown');
    const { decision } = await look(bench, given);
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', steps: [] });
  });

  it('is not followed if its owner has said so of another cluster', async () => {
    const { bench, createdAt } = await benchWithCluster();
    const given = moved.withStatus({ createdAt }).annotated('accept-identity', CREATED_AT);
    const { decision } = await look(bench, given);
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', steps: [] });
  });

  it('is not followed to another cluster of that id', async () => {
    const { bench } = await benchWithCluster();
    const { decision } = await look(bench, moved.annotated('accept-identity', CREATED_AT));
    expect(outline(decision)).toMatchObject({ ready: 'False SpaceMoved', steps: [] });
  });

  it('takes its id from nobody in the new place', async () => {
    const bench = await kindBench();
    const { metadata, ...rest } = moved.subject;
    const other = { ...rest, metadata: { ...metadata, uid: 'other', creationTimestamp: '2026-11-20T08:00:00Z' } };
    const world = {
      ...bench.world(),
      claimants: () => ['shop/other'],
      cluster: () => ({ apiVersion: '', kind: 'DatabaseCluster', ...other }),
    };
    const seen = await observeCluster(world, aCluster().subject, signal);
    expect(seen).toMatchObject({ space: 'seen', claimedBy: undefined });
  });

  it('is acted on in no other place, even if the space moves in the middle of a pass', async () => {
    const bench = await kindBench();
    for (const step of [
      { do: 'Deploy', id: 'orders' },
      { do: 'Destroy', id: 'orders' },
    ] as const)
      await expect(actOnCluster(bench.world(), moved.subject, step, signal, () => {})).rejects.toThrow(
        'changed meanwhile',
      );
    expect(bench.simulator.count('deploy')).toBe(0);
  });
});

describe('The place of a cluster', () => {
  it('is recorded with the intention to deploy it, and stays', async () => {
    const bench = await kindBench({ knobs: { provisionMs: [20_000, 20_000] } });
    await bench.pass();
    expect(bench.status()).toMatchObject({ place: PLACE, operation: { type: 'Deploy' } });
    await bench.until('True Running');
    expect(bench.status().place).toEqual(PLACE);
  });

  it('is recorded when it is taken over, not before', async () => {
    const { bench } = await benchWithCluster();
    expect((await look(bench, aCluster().with({ adoptionPolicy: 'IfExists' }))).decision.status?.place).toEqual(PLACE);
    expect((await look(bench, aCluster())).decision.status?.place).toBeNull();
  });

  it('is added to a status from before that field existed, once the cluster is seen', async () => {
    const { bench, createdAt } = await benchWithCluster();
    const before = aCluster().healthy().withStatus({ createdAt });
    expect((await look(bench, before)).decision.status?.place).toEqual(PLACE);
    expect((await look(bench, before.withStatus({ createdAt: CREATED_AT }))).decision.status?.place).toBeUndefined();
  });

  it('is the same however the base URL is written', async () => {
    const bench = await runningBench({ space: { baseURL: 'https://cloud.simulator.test/' } });
    expect(bench.status().place).toEqual(PLACE);
  });

  it('is not guessed while the space is about to be connected again', async () => {
    const bench = await kindBench();
    const { spec } = aSpace().with({ baseURL: BEFORE.baseURL }).subject;
    const world = {
      ...bench.world(),
      places: placesOf({ 'shop/production': spec }),
      space: () => ({ spec, ready: { status: 'True', reason: 'Observed', message: '' } }),
    };
    const seen = await observeCluster(world, aCluster().subject, signal);
    expect(seen).toMatchObject({ space: 'waiting', reason: 'WaitingForSpace' });
  });
});
