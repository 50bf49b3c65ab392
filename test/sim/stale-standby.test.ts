import { expect, test } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { isReady, running } from './scenario.ts';
import { CLUSTERS } from './view.ts';
import { World } from './world.ts';

const SECOND_MS = 1_000;

test('A standby that has heard nothing for a while takes over without undoing what the former leader did', async () => {
  const world = new World({ scenario: 'stale-standby', replicas: 2, strikes: [] });
  const { clock, kube, people, view, effects } = world;
  const watch = kube.watch.bind(kube);
  let watches = 0;
  let isHalfOpen = false;
  kube.watch = (resource, options, signal) => {
    const events = watch(resource, options, signal);
    // The first watch is that of the acting process, the second that of the standby.
    if (resource.plural !== CLUSTERS.plural || ++watches !== 2) return events;
    return (async function* () {
      for await (const event of events) {
        while (isHalfOpen && signal?.aborted !== true) await sleep(clock, SECOND_MS);
        yield event;
      }
    })();
  };
  await world.start();
  await running(world);
  await people.edit({ spec: { state: 'Suspended' } });
  await world.until(() => view.ready() === 'True Suspended', 'orders is suspended');
  world.beginCounting();
  isHalfOpen = true;
  await people.edit({ spec: { state: 'Running' } });
  await world.until(() => isReady(world) && view.cluster()?.status === 'running', 'orders runs again');
  const done = effects.length;
  // The acting process dies before its next effect.
  world.chance = () => {
    world.chance = undefined;
    return 'crashBefore';
  };
  await people.edit({ annotations: { 'mooring.dev/rotate-at': '1' } });
  await clock.advance(60 * SECOND_MS);
  expect(
    world.trace.some((line) => line.includes('s [2] ')),
    'the second takes over',
  ).toBe(true);
  expect(effects.slice(done).filter(({ what }) => /\/(?:suspend|resume)$/.test(what))).toEqual([]);
  isHalfOpen = false;
  await clock.advance(60 * SECOND_MS);
  expect([view.ready(), view.cluster()?.status, world.invariants.violations]).toEqual(['True Running', 'running', []]);
  world.stop();
});
