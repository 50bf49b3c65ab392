import { describe, expect, it } from 'vitest';
import { runningBench } from '../../../test/support/kind-bench.ts';
import type { AccessLevel } from '../../cloud/token.ts';

const SPACE = 'shop/production';

/** A cluster that should be changed, in a space whose levels include no other, and of which these have a wrong client secret. */
async function changing(wrong: Partial<Record<AccessLevel, string>>) {
  const bench = await runningBench({ knobs: { levelsNest: false } });
  const { connections, space } = bench.world();
  const spec = space(SPACE)?.spec ?? expect.unreachable();
  const credentials = (['read', 'write', 'admin'] as const).map((level) => ({
    level,
    clientID: `${level}-id`,
    clientSecret: wrong[level] ?? `${level}-secret-0123456789`,
  }));
  connections.connect(SPACE, spec, credentials, { username: 'admin', password: 'password' }, '1');
  await connections.get(SPACE)?.poller.refresh();
  await bench.edit({ storageSizeGB: 200 });
  await bench.pass();
  return bench;
}

describe('A change of a DatabaseCluster for which an API token is wrong', () => {
  it.each([
    ['holds a line break', 'write-secret-0123456789\n', /holds a line break/],
    ['is another one', 'another-secret-0123456789', /the client id or the client secret was refused/],
  ])('names its Secret, and not the level of another token, if it %s', async (_, clientSecret, what) => {
    const bench = await changing({ write: clientSecret });
    expect(bench.ready()).toBe('False CredentialsInvalid');
    const told = bench.told.at(-1);
    expect(told).toMatch(what);
    expect(told).toContain('exchange the API token of level write');
    expect(told).toMatch(/Check the API token of DatabaseSpace "production", in the Secret "cloud-write"$/);
    await bench.pass();
    expect(bench.told.at(-1)).toBe(told);
  });

  it('names the level of the token to use if only a higher one is wrong as well', async () => {
    const bench = await changing({ admin: 'another-secret-0123456789' });
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'errorBefore', status: 403 });
    await bench.edit({ storageSizeGB: 300 });
    await bench.pass();
    expect(bench.ready()).toBe('False AccessDenied');
  });
});

it('A DatabaseCluster names the Secrets of its space if the token is refused', async () => {
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
