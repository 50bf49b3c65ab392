import { createServer } from 'node:http';
import { type AddressInfo, createServer as createRawServer, type Server } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { write } from '../../test/support/endpoint.ts';
import { keepSpans } from '../../test/support/spans.ts';
import { aController } from '../../test/support/toy-controller.ts';
import { systemRandom } from '../base/random.ts';
import { readNothing } from '../http/answer.ts';
import { ApiEndpoint } from '../http/api-endpoint.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import { KubeError } from '../kube/api.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';

/** Starts the server for the test. Resolves with its address. */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function aTransport() {
  const transport = createUndiciTransport();
  onTestFinished(() => transport.close());
  return transport;
}

test('A pass has a span that names its object, with the id of its log lines, and a request has one, too', async () => {
  const spans = keepSpans();
  const host = await listening(createServer((_, response) => response.end('{}')));
  const [, port] = host.split(':');
  const transport = aTransport();
  let isFirst = true;
  const looked = Promise.withResolvers<void>();
  const observe = async () => {
    if (isFirst) await transport({ method: 'GET', url: `http://${host}/v1/toys` });
  };
  const decide = () => {
    looked.resolve();
    const steps = isFirst ? ['paint it'] : [];
    isFirst = false;
    return { conditions: 'keep', steps } as const;
  };
  const { create, clock, fields } = await aController({ observe, decide });
  await create('a');
  await looked.promise;
  await clock.settle();
  const about = { kind: 'Toy', namespace: 'ns', name: 'a', reconcileID: expect.stringMatching(/^[0-9a-f]{8}$/) };
  expect(spans.slice(0, 2)).toEqual([
    { name: 'reconcile', kind: 0, attributes: about, told: [['end']] },
    {
      name: 'GET',
      kind: 2,
      attributes: { 'http.request.method': 'GET', 'server.address': '127.0.0.1', 'server.port': Number(port) },
      told: [['setAttribute', 'http.response.status_code', 200], ['end']],
    },
  ]);
  expect(fields[0]).toMatchObject(spans[0]?.attributes ?? {});
});

/** Servers that repeat what they are sent. */
const ECHOES: Readonly<Record<string, () => Server>> = {
  'in its answer': () =>
    createServer(async (request, response) => {
      const { headers, url } = request;
      const body = (await request.toArray()).join('');
      const all = `${url} ${JSON.stringify(headers)} ${body}`;
      response.writeHead(400, `No ${headers.authorization}`).end(JSON.stringify({ code: 'NO', message: all }));
    }),
  'instead of an answer': () => createRawServer((socket) => socket.pipe(socket)),
};

test.each(Object.keys(ECHOES))(
  'No span of a pass shows a secret that the other side repeats %s, or one that the API server repeats',
  async (how) => {
    const spans = keepSpans();
    const host = await listening((ECHOES[how] as () => Server)());
    const transport = aTransport();
    const endpoint = new ApiEndpoint({
      api: 'cloud',
      baseURL: `http://${host}`,
      transport,
      clock: virtualClock(),
      random: systemRandom,
      rateLimit: { ratePerSecond: 1, burst: 1 },
    });
    const secrets = ['canary-token', 'canary-password'];
    const exchange = {
      headers: { authorization: 'Bearer canary-token' },
      body: '{"password":"canary-password"}',
      secrets,
    };
    const refused = Promise.withResolvers<void>();
    const observe = async () => {
      await transport({ method: 'GET', url: `http://user:canary-0@${host}/canary-1?token=canary-2` })
        .then(readNothing)
        .catch(() => {});
      await endpoint.call(write, exchange, readNothing);
    };
    const { create, clock, api } = await aController({ observe });
    // When the API server refuses something, it says what was wrong, and may repeat all of it.
    api.patch = async (_resource, _ref, patch) => {
      refused.resolve();
      throw new KubeError(`admission webhook "a" denied ${JSON.stringify(patch)}`, { status: 400 });
    };
    await create('a');
    await refused.promise;
    await clock.settle();
    // Errors with message, stack and cause.
    const told = inspect(spans, { depth: null });
    expect(told).toContain('denied');
    expect(told).not.toMatch(/canary/i);
    expect(spans.map(({ name }) => name)).toEqual(['reconcile', 'GET', 'POST']);
  },
);
