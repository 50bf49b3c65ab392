import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { SingleFlight } from './single-flight.ts';

function aWork() {
  const runs: { resolve(value: string): void; reject(error: Error): void; signal: AbortSignal }[] = [];
  const work = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      runs.push({ resolve, reject, signal });
    });
  return { runs, work };
}

test('SingleFlight runs the work once for all callers that come meanwhile', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const results = Promise.all([flight.run(work), flight.run(work), flight.run(work)]);
  expect(runs).toHaveLength(1);
  runs[0]?.resolve('token');
  expect(await results).toEqual(['token', 'token', 'token']);
});

test('SingleFlight runs again once the work has ended, whether it succeeded or not', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const failed = expect(flight.run(work)).rejects.toThrow('no');
  runs[0]?.reject(new Error('no'));
  await failed;
  const second = flight.run(work);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve('b');
  expect(await second).toBe('b');
});

test('SingleFlight lets one caller leave and finishes for the others', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const controller = new AbortController();
  const leaver = expect(flight.run(work, controller.signal)).rejects.toMatchObject({ kind: 'aborted' });
  const stayer = flight.run(work);
  controller.abort();
  await leaver;
  expect(runs[0]?.signal.aborted).toBe(false);
  runs[0]?.resolve('token');
  expect(await stayer).toBe('token');
});

test('SingleFlight aborts the work when all have left, and starts again for the next caller', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const controller = new AbortController();
  const leaver = expect(flight.run(work, controller.signal)).rejects.toMatchObject({ kind: 'aborted' });
  controller.abort();
  await leaver;
  expect(runs[0]?.signal.aborted).toBe(true);
  const next = flight.run(work);
  expect(runs).toHaveLength(2);
  runs[0]?.reject(new Error('aborted'));
  runs[1]?.resolve('token');
  expect(await next).toBe('token');
});

test('SingleFlight starts again for the first caller with the outcome, even if others have yet to receive it', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const again = flight.run(work).then(() => flight.run(work));
  const other = flight.run(work);
  runs[0]?.resolve('old');
  expect(await other).toBe('old');
  // The end of the former flight does not end the new one, which others may join.
  const joined = flight.run(work);
  expect(runs).toHaveLength(2);
  runs[1]?.resolve('new');
  expect(await Promise.all([again, joined])).toEqual(['new', 'new']);
  expect(runs[1]?.signal.aborted).toBe(false);
});

test.each(['resolves', 'rejects'])('SingleFlight releases the signal of a caller when the work %s', async (how) => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  const { signal } = new AbortController();
  const outcome = flight.run(work, signal).catch(String);
  await Promise.resolve();
  if (how === 'resolves') runs[0]?.resolve('token');
  else runs[0]?.reject(new Error('no'));
  expect(await outcome).toBe(how === 'resolves' ? 'token' : 'Error: no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('SingleFlight does not start for a signal that has already aborted', async () => {
  const flight = new SingleFlight<string>();
  const { runs, work } = aWork();
  await expect(flight.run(work, AbortSignal.abort())).rejects.toMatchObject({ kind: 'aborted' });
  expect(runs).toHaveLength(0);
});

test('SingleFlight passes on what the work throws before it returns', async () => {
  const flight = new SingleFlight<string>();
  const throws = () => Promise.reject(new Error('early'));
  await expect(flight.run(throws)).rejects.toThrow('early');
});
