import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import { type Probed, serveProbes } from './probes.ts';

const WELL: Probed = { stuck: () => undefined, notReady: () => undefined, acts: () => true };

/** The probes of an operator that answers this way, on a loop whose timers run only while it does not stand still. */
async function theProbes(operator: Partial<Probed> = {}) {
  const clock = manualClock();
  let standingMs = 0;
  const own = { ...clock, monotonic: () => clock.monotonic() + standingMs };
  const server = await serveProbes('127.0.0.1:0', { ...WELL, ...operator }, own);
  onTestFinished(server.close);
  const ask = async (path: string) => {
    const response = await fetch(`http://${server.address}${path}`);
    return [response.status, await response.text()];
  };
  const standStill = (ms: number) => {
    standingMs += ms;
    clock.advance(5_000);
  };
  return { clock, server, ask, standStill };
}

test('/livez answers 200 while nothing is stuck, even before the operator is ready', async () => {
  const { ask } = await theProbes({ notReady: () => 'Waiting for the first list of secrets', acts: () => false });
  expect(await ask('/livez')).toEqual([200, 'ok\n']);
});

test('/livez answers 503 while a pass is stuck, and says which', async () => {
  let stuck: string | undefined = 'A pass of shop/orders does not end';
  const { ask } = await theProbes({ stuck: () => stuck });
  expect(await ask('/livez')).toEqual([503, 'A pass of shop/orders does not end\n']);
  stuck = undefined;
  expect(await ask('/livez')).toEqual([200, 'ok\n']);
});

test('/livez answers 503 while the event loop stands still again and again', async () => {
  const { ask, clock, standStill } = await theProbes();
  for (let count = 0; count < 3; count++) standStill(8_000);
  expect(await ask('/livez')).toEqual([503, 'The event loop was blocked 3 times in the last minutes, for up to 8 s\n']);
  clock.advance(60_000);
  expect(await ask('/livez')).toEqual([200, 'ok\n']);
});

test.each([
  ['acts', {}, [200, 'ok: acts\n']],
  ['stands by', { acts: () => false }, [200, 'ok: stands by\n']],
  ['is not ready', { notReady: () => 'Waiting for its Lease: forbidden' }, [503, 'Waiting for its Lease: forbidden\n']],
] as const)('/readyz of an operator that %s says so', async (_, operator, answer) => {
  expect(await (await theProbes(operator)).ask('/readyz')).toEqual(answer);
});

test('serveProbes() leaves no timer when it is closed, nor if it cannot listen', async () => {
  const { clock, server } = await theProbes();
  await server.close();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as { port: number };
  await expect(serveProbes(`127.0.0.1:${port}`, WELL, clock)).rejects.toThrow('EADDRINUSE');
  expect(clock.timers()).toBe(0);
});
