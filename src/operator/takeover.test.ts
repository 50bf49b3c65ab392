import { expect, test, vi } from 'vitest';
import { aWorldOfOperators } from '../../test/support/operators.ts';
import { HttpError } from '../base/http.ts';

/* What one process has begun and another one goes on with. */

// Hours of several operators' time.
vi.setConfig({ testTimeout: 60_000 });

const lost = () => new HttpError('lost', 'No answer', { isUnanswered: true });
const isDeploy = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method === 'POST' && url.includes('deploy');

test('A replica that gets back a space knows for its own the clusters whose deploys were never answered', async () => {
  const count = 8;
  const world = await aWorldOfOperators({ count, initially: 0 });
  for (let index = 0; index < count; index++) await world.addSpace(index);
  world.replica();
  await world.clock.advance(120_000);
  let deployed = 0;
  world.network.fault = async (request, go) => {
    // From the first deploy on nothing is answered, and after the last one nothing takes effect.
    if (isDeploy(request) && deployed < count) {
      deployed++;
      await go();
      throw lost();
    }
    return deployed > 0 ? Promise.reject(lost()) : go();
  };
  for (let index = 0; index < count; index++) await world.addCluster(index);
  await world.clock.advance(60_000);
  const other = world.replica();
  await world.clock.advance(60_000);
  other.stop.abort();
  await world.clock.advance(60_000);
  expect([deployed, other.state.ended, other.logged.some((line) => line.includes('"gained":'))]).toEqual([
    count,
    'well',
    true,
  ]);
  world.network.fault = undefined;
  await world.clock.advance(900_000);
  expect([new Set(world.readiness()), world.simulator.count('deploy')]).toEqual([new Set(['True Running']), count]);
});
