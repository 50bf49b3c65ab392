import { expect, test } from 'vitest';
import { KubeError, SECRETS } from '../../src/kube/api.ts';
import { isReady } from './scenario.ts';
import { scenarioNamed } from './scenarios.ts';
import { USERS } from './view.ts';
import { World } from './world.ts';

const LATE_MS = 10_000;

test.each(['user-secret-deleted', 'database-more-schema'])(
  '%s: work that a restart interrupted goes on once its space is connected, however late',
  async (name) => {
    const { subject, prepare, act, ends } = scenarioNamed(name);
    const world = new World({ scenario: name, strikes: [{ at: 1, fault: 'crashAfter' }] }, subject);
    const { clock, kube, effects } = world;
    await world.start();
    await prepare?.(world);
    await clock.advance(60_000);
    world.beginCounting();
    const get = kube.get.bind(kube);
    let lateUntil = Number.POSITIVE_INFINITY;
    kube.get = async (resource, ref) => {
      // The tokens of the space cannot be read while the new process begins.
      if (effects.length > 0 && resource === SECRETS && ref.name.startsWith('cloud-') && clock.monotonic() < lateUntil)
        throw new KubeError('etcdserver: leader changed', { status: 500, reason: 'InternalError' });
      return get(resource, ref);
    };
    await act(world);
    await world.until(() => effects.length > 0, 'the process dies');
    lateUntil = clock.monotonic() + LATE_MS;
    await world.until(() => ends(world), `the end of ${name}`);
    expect([isReady(world, subject?.name, subject?.resource ?? USERS), world.invariants.violations]).toEqual([
      true,
      [],
    ]);
    world.stop();
  },
);
