import { expect, test } from 'vitest';
import { aCluster, aController, READY } from '../../test/support/toy-controller.ts';
import type { ToyBehaviour } from '../../test/support/toy-kind.ts';
import { sleep } from '../base/clock.ts';
import { KubeError } from '../kube/api.ts';
import { reconciling } from '../kube/summary.ts';

/* A Ready object is Ready no more once it has failed for five seconds: what counts as failing, and from when on. */

const busy = () => new KubeError('busy', { status: 503 });
const conflict = () => new KubeError('the object has been modified', { status: 409, reason: 'Conflict' });

type Next = 'ok' | 'fails' | 'conflict' | 'acts' | 'looks soon' | 'may pass';

/** Has the passes of a Ready toy end so, for so long each. Returns the reasons of its Events. */
async function afterPasses(phases: readonly (readonly [Next, number])[]): Promise<readonly string[]> {
  let next: Next = 'ok';
  const { clock, api } = aCluster();
  const behaviour: ToyBehaviour = {
    observe: async () => {
      if (next === 'fails') throw busy();
      if (next === 'conflict') throw conflict();
    },
    decide: () => ({
      conditions: next === 'may pass' ? reconciling('Down', 'The server does not answer') : READY,
      ...(next === 'may pass' ? { retry: 'soon' as const, mayPass: true } : {}),
      ...(next === 'acts' ? { steps: ['grow'] } : {}),
      ...(next === 'looks soon' ? { retry: 'soon' as const } : {}),
    }),
    act: async () => {
      await sleep(clock, 16_000);
      return {};
    },
  };
  const given = await aController(behaviour, 2, { clock, api });
  await given.create('a');
  given.events.length = 0;
  for (const [end, ms] of phases) {
    next = end;
    given.controller.queue.add('ns/a');
    await given.clock.advance(ms);
  }
  return given.events;
}

test.each<{ what: string; phases: readonly (readonly [Next, number])[] }>([
  { what: 'one failure', phases: [['fails', 0]] },
  {
    what: 'one failure after conflicts',
    phases: [
      ['conflict', 30_000],
      ['fails', 0],
    ],
  },
  {
    what: 'one failure after looks that were planned',
    phases: [
      ['looks soon', 60_000],
      ['fails', 0],
    ],
  },
  {
    what: 'two failures with planned looks between them',
    phases: [
      ['fails', 0],
      ['looks soon', 60_000],
      ['fails', 0],
    ],
  },
  {
    what: 'two conflicts with progress between them',
    phases: [
      ['conflict', 0],
      ['acts', 65_000],
      ['conflict', 20_000],
    ],
  },
])('Controller reports nothing of $what of a Ready object', async ({ phases }) => {
  expect(await afterPasses(phases)).toEqual([]);
});

test.each<{ what: string; reason?: string; phases: readonly (readonly [Next, number])[] }>([
  { what: 'failures for six seconds', phases: [['fails', 6_000]] },
  { what: 'what may pass and lasts for six seconds', reason: 'Down', phases: [['may pass', 6_000]] },
  {
    what: 'what may pass and lasts for six seconds, however long planned looks before it had come to wait,',
    reason: 'Down',
    phases: [
      ['looks soon', 120_000],
      ['may pass', 6_000],
    ],
  },
  {
    what: 'failures for six seconds with conflicts between them',
    phases: [
      ['fails', 0],
      ['conflict', 6_000],
      ['fails', 0],
    ],
  },
])('Controller reports $what of a Ready object', async ({ phases, reason = 'KubernetesError' }) => {
  expect(await afterPasses(phases)).toEqual([reason]);
});

test('Controller reports a failure in time though writing the rest of the status takes long', async () => {
  let fails = false;
  let size = 1;
  const { clock, api } = aCluster();
  const patch = api.patch.bind(api);
  api.patch = async (...request) => {
    if (fails) await sleep(clock, 2_500);
    return patch(...request);
  };
  const behaviour: ToyBehaviour = {
    observe: async () => {
      if (fails) await sleep(clock, 3_000);
    },
    decide: () =>
      fails
        ? { conditions: reconciling('Down', 'No answer'), status: { size: size++ }, retry: 'soon', mayPass: true }
        : { conditions: READY, retry: 'soon' },
  };
  const given = await aController(behaviour, 2, { clock, api });
  await given.create('a');
  await clock.advance(120_000);
  given.events.length = 0;
  fails = true;
  given.controller.queue.add('ns/a');
  await clock.advance(15_000);
  expect(given.events).toEqual(['Down']);
});
