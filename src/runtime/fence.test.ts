import { expect, test } from 'vitest';
import { manualClock, noChance } from '../../test/support/clock.ts';
import { scriptedTransport } from '../../test/support/http.ts';
import type { Clock } from '../base/clock.ts';
import { HttpError, type HttpRequest, type HttpTransport } from '../base/transport.ts';
import { readNothing } from '../http/answer.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { type AnyObject, type KubeApi, SECRETS } from '../kube/api.ts';
import { fencedApi, fencedTransport } from './fence.ts';

const OBJECT: AnyObject = { metadata: { name: 'a', uid: 'u', resourceVersion: '1' } };

function countingApi() {
  const calls: string[] = [];
  const called = <T>(name: string, answer: T): T => {
    calls.push(name);
    return answer;
  };
  const api: KubeApi = {
    get: async () => called('get', OBJECT),
    list: async () => called('list', { items: [], resourceVersion: '1', continueToken: undefined }),
    watch: () => called('watch', nothing()),
    create: async () => called('create', OBJECT),
    patch: async () => called('patch', OBJECT),
    delete: async () => called('delete', true),
  };
  return { api, calls };
}

async function* nothing() {
  yield* [];
}

async function useAll(api: KubeApi) {
  const ref = { namespace: 'n', name: 'a' };
  const attempts: (() => Promise<unknown>)[] = [
    () => api.get(SECRETS, ref),
    () => api.list(SECRETS, {}),
    async () => api.watch(SECRETS, { resourceVersion: '1', timeoutSeconds: 1 }),
    () => api.create(SECRETS, 'n', {}),
    () => api.patch(SECRETS, ref, {}),
    () => api.delete(SECRETS, ref, { uid: 'u' }),
  ];
  const outcomes: string[] = [];
  for (const attempt of attempts) {
    outcomes.push(
      await Promise.resolve()
        .then(attempt)
        .then(
          () => 'done',
          (error: Error) => error.message,
        ),
    );
  }
  return outcomes;
}

test('fencedApi() lets everything through while this process may act', async () => {
  const { api, calls } = countingApi();
  await useAll(fencedApi(api, () => undefined));
  expect(calls).toEqual(['get', 'list', 'watch', 'create', 'patch', 'delete']);
});

test('fencedApi() goes on reading but writes nothing once it may not', async () => {
  const { api, calls } = countingApi();
  const outcomes = await useAll(fencedApi(api, () => 'the lease is lost'));
  expect(calls).toEqual(['get', 'list', 'watch']);
  expect(outcomes.slice(3)).toEqual(Array(3).fill('Nothing is written: the lease is lost'));
});

test('fencedTransport() asks right before each request, and sends GETs only while the fence is up', async () => {
  const sent: string[] = [];
  const refusals: (string | undefined)[] = [];
  let reason: string | undefined;
  const transport = fencedTransport(
    async ({ method, refusal }) => {
      sent.push(method);
      refusals.push(refusal?.());
      return { status: 200, headers: {}, body: nothing() };
    },
    () => reason,
  );
  const request = (method: HttpRequest['method']) => transport({ method, url: 'http://127.0.0.1/' });
  await request('POST');
  reason = 'the lease is lost';
  await request('GET');
  const refused = await request('DELETE').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(HttpError);
  expect(refused).toMatchObject({ kind: 'unreachable', isWithheld: true, message: 'Not sent: the lease is lost' });
  expect(sent).toEqual(['POST', 'GET']);
  expect(refusals).toEqual([undefined, undefined]);
});

test('fencedTransport() asks the fence once more right before the first byte of a change is sent', async () => {
  const answers: (string | undefined)[] = [];
  let reason: string | undefined;
  const transport = fencedTransport(
    async ({ refusal }) => {
      reason = 'frozen meanwhile';
      answers.push(refusal?.());
      reason = undefined;
      return { status: 200, headers: {}, body: nothing() };
    },
    () => reason,
  );
  for (const method of ['POST', 'GET'] as const) await transport({ method, url: 'http://127.0.0.1/' });
  expect(answers).toEqual(['frozen meanwhile', undefined]);
});

/** A call of an endpoint that changes something. */
function deployOver(transport: HttpTransport, clock: Clock) {
  const baseURL = 'https://cloud.example.com';
  const rateLimit = { ratePerSecond: 50, burst: 50 };
  const endpoint = new ApiEndpoint({ api: 'cloud', baseURL, transport, clock, random: noChance, rateLimit });
  const operation = { name: 'deploy', phrase: 'deploy', method: 'POST', path: ['deploy'], idempotent: false } as const;
  return () => endpoint.call(operation, {}, readNothing);
}

test('fencedTransport() asks only after waiting for a turn, however long that takes', async () => {
  const clock = manualClock();
  const sent = scriptedTransport((_, count) => ({ status: count === 0 ? 429 : 200, headers: { 'retry-after': '4' } }));
  let up: string | undefined;
  const deploy = deployOver(
    fencedTransport(sent, () => up),
    clock,
  );
  await expect(deploy()).rejects.toMatchObject({ kind: 'throttled' });
  const waiting = expect(deploy()).rejects.toMatchObject({ kind: 'unreachable', effectUnknown: false });
  up = 'the lease is lost';
  for (let seconds = 0; seconds < 5; seconds++) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await waiting;
  expect(sent.requests).toHaveLength(1);
});

test('A request that fencedTransport() did not send says nothing about the other side, which is called again at once', async () => {
  const sent = scriptedTransport(() => ({ status: 200 }));
  let up: string | undefined = 'the lease is not renewed yet';
  const deploy = deployOver(
    fencedTransport(sent, () => up),
    manualClock(),
  );
  for (let count = 0; count < 5; count++) await expect(deploy()).rejects.toMatchObject({ kind: 'unreachable' });
  up = undefined;
  await deploy();
  expect(sent.requests).toHaveLength(1);
});
