import { expect, test } from 'vitest';
import { scriptedTransport } from '../../test/support/http.ts';
import { readText } from '../base/transport.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { patientTransport } from './patient-transport.ts';

/** What comes of a request that is answered so at first, and then with 200; how often it was sent, and how long that took. */
async function ask(status: number, headers: Readonly<Record<string, string>>, times = 1) {
  const clock = virtualClock();
  const since = clock.monotonic();
  const script = scriptedTransport((_, index) =>
    index < times ? { status, headers, body: 'later' } : { status: 200 },
  );
  const asking = patientTransport(script, clock)({ method: 'GET', url: 'https://api.test/' });
  let took = 0;
  const ended = asking.then((response) => {
    took = clock.monotonic() - since;
    return response.status;
  });
  await clock.advance(60_000);
  return { status: await ended, sent: script.requests.length, took };
}

test.each([429, 500, 503])('an answer %i that says when to come back is followed by another try', async (status) => {
  expect(await ask(status, { 'retry-after': '2' })).toEqual({ status: 200, sent: 2, took: 2_000 });
});

test('a server that puts requests off again and again is asked ten times', async () => {
  expect(await ask(429, { 'retry-after': '1' }, 100)).toEqual({ status: 429, sent: 10, took: 9_000 });
});

test.each<[number, Record<string, string>]>([
  [503, {}],
  [429, { 'retry-after': '60' }],
  [404, { 'retry-after': '1' }],
])('an answer %i with %j is the answer', async (status, headers) => {
  expect(await ask(status, headers)).toEqual({ status, sent: 1, took: 0 });
});

test('the last answer can still be read', async () => {
  const script = scriptedTransport(() => ({ status: 503, body: 'starting' }));
  const response = await patientTransport(script, virtualClock())({ method: 'GET', url: 'https://api.test/' });
  expect(await readText(response, 100)).toContain('starting');
});

test('an aborted request does not wait', async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const script = scriptedTransport(({ signal }) => {
    signal?.throwIfAborted();
    return { status: 429, headers: { 'retry-after': '5' } };
  });
  const asking = patientTransport(script, clock)({ method: 'GET', url: 'https://api.test/', signal: stop.signal });
  const ended = expect(asking).rejects.toThrow(/abort/i);
  await clock.advance(1_000);
  stop.abort();
  await ended;
});
