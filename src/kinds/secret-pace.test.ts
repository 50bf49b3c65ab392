import { expect, it } from 'vitest';
import { secretsOf } from '../../test/support/secrets.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import { paced } from './secret-pace.ts';
import { createSecrets } from './secrets.ts';

const { signal } = new AbortController();

async function bench() {
  const clock = virtualClock();
  const kube = new FakeKube({ now: clock.now, random: createSeededRandom(1) });
  const secrets = paced(createSecrets(kube, secretsOf(kube)), clock);
  for (const name of ['login', 'other']) await secrets.create('shop', name, { data: { host: 'a' }, labels: {} });
  let value = 0;
  /** Changes the Secret until that is refused; resolves with how often it was not, and why. */
  const change = async (name = 'login') => {
    for (let times = 0; ; times++) {
      const read = (await secrets.read('shop', name, signal)) ?? expect.unreachable();
      try {
        await secrets.patch('shop', name, read, { data: { host: String(value++) } });
      } catch (error) {
        return { times, error };
      }
      if (times > 100) return { times, error: undefined };
    }
  };
  const patch = async (data: Readonly<Record<string, string | null>>) => {
    const read = (await secrets.read('shop', 'login', signal)) ?? expect.unreachable();
    await secrets.patch('shop', 'login', read, { data });
  };
  return { clock, change, patch };
}

it('paced() lets twenty changes of a Secret through, and then one each half a minute', async () => {
  const { clock, change } = await bench();
  const { times, error } = await change();
  expect(times).toBe(20);
  expect(error).toMatchObject({ reason: 'SecretContested', retryAfterMs: 30_000 });
  expect(String(error)).toMatch(
    /Secret "login" in namespace "shop" .*kubectl get secret login --namespace=shop --output=jsonpath='\{\.metadata\.managedFields\}'/,
  );
  await clock.advance(29_000);
  expect(await change()).toMatchObject({ times: 0, error: { retryAfterMs: 1_000 } });
  await clock.advance(1_000);
  expect((await change()).times).toBe(1);
  await clock.advance(600_000);
  expect((await change()).times).toBe(20);
});

it('paced() holds back no other Secret', async () => {
  const { change } = await bench();
  await change();
  expect((await change('other')).times).toBe(20);
});

it('paced() never holds back the end of a replacement, without which the published password does not work', async () => {
  const { clock, change, patch } = await bench();
  await change();
  await clock.advance(30_000);
  await patch({ nextPassword: 'next' });
  await patch({ password: 'next', nextPassword: null });
  // It counts all the same, and one more end is nobody's.
  await expect(patch({ nextPassword: null })).rejects.toMatchObject({
    reason: 'SecretContested',
    retryAfterMs: 60_000,
  });
});
