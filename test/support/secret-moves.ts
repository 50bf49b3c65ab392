import { expect } from 'vitest';
import { Crashed, type KindBench } from './kind-bench.ts';

/* How the Secret with a cluster's login gets another name, and what may go wrong on the way. */

export const rename = (bench: KindBench, secretName: string) => bench.edit({ adminCredentials: { secretName } });

export async function passes(bench: KindBench, count: number): Promise<void> {
  for (let pass = 0; pass < count; pass++) {
    const { next } = await bench.pass();
    if (next !== 'again') await bench.clock.advance(5_000);
  }
}

/** Runs passes until the process ends in one of them, as set on `bench`. */
export async function passUntilItEnds(bench: KindBench): Promise<void> {
  let isOver = false;
  for (let pass = 0; pass < 200 && !isOver; pass++) {
    isOver = await bench.pass().then(
      () => false,
      (error: unknown) => error instanceof Crashed,
    );
    await bench.clock.advance(5_000);
  }
  expect(isOver).toBe(true);
}

/** Runs passes until the server was given the next password from that Secret and has answered with an error. */
export async function beginMove(bench: KindBench, secretName: string): Promise<void> {
  const fault = bench.simulator.faults.add({ match: { operation: 'updateUser' }, effect: 'errorBefore', status: 500 });
  await rename(bench, secretName);
  bench.forgetCalls();
  for (let pass = 0; pass < 20 && !bench.calls.includes('server updateUser'); pass++) await bench.pass();
  expect(bench.secret(secretName)).toHaveProperty('nextPassword');
  bench.simulator.faults.remove(fault);
}
