import type { HttpResponse } from '../../src/base/transport.ts';
import { readNothing } from '../../src/http/answer.ts';
import type { Exchange, Operation, RequestRecord } from '../../src/http/api-call.ts';
import { ApiEndpoint } from '../../src/http/api-endpoint.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { manualClock, noChance } from './clock.ts';
import { type Script, scriptedTransport } from './http.ts';

/** Two operations that any API might have. */
export const read: Operation = { name: 'get', phrase: 'get x', method: 'GET', path: ['v1', 'x'], idempotent: true };
export const write: Operation = { name: 'put', phrase: 'put x', method: 'POST', path: ['v1', 'x'], idempotent: false };

/** An endpoint whose server answers from the script, on a clock that stands still except for `patiently`. */
export function anEndpoint(script: Script, baseURL = 'https://host/base/', onRecovered = () => {}) {
  const clock = manualClock();
  const transport = scriptedTransport(script);
  const records: RequestRecord[] = [];
  const endpoint = new ApiEndpoint({
    api: 'cloud',
    baseURL,
    transport,
    clock,
    random: noChance,
    rateLimit: { ratePerSecond: 1, burst: 100 },
    onRequest: (record) => records.push(record),
    onRecovered,
  });
  /** Moves time while the request waits for its turn. */
  const patiently = async <T>(promise: Promise<T>): Promise<T> => {
    let ended = false;
    const end = () => {
      ended = true;
    };
    promise.then(end, end);
    for (let turn = 0; turn < 1_000 && !ended; turn++) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return promise;
  };
  const call = (
    operation: Operation = read,
    exchange: Exchange = {},
    reader: (response: HttpResponse) => Promise<unknown> = readNothing,
  ) => endpoint.call(operation, exchange, reader);
  return { endpoint, call, patiently, clock, records, requests: transport.requests, transport };
}

/** The error that it rejects with, which must be an ApiError. */
export async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('expected an ApiError', { cause: error });
  return error;
}
