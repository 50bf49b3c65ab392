import { connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../test/support/clock.ts';
import {
  addressOf,
  CLUSTERS,
  clusterNamed,
  DEPLOY,
  type Reply,
  type Send,
  sender,
} from '../../../test/support/simulator.ts';
import { systemClock } from '../../base/clock.ts';
import { createUndiciTransport } from '../../http/undici-transport.ts';
import type { Fault, FaultEffect } from '../faults/faults.ts';
import type { SimulatorOptions } from '../interface.ts';
import { createSeededRandom } from '../seeded-random.ts';
import { createSimulator } from '../simulator.ts';
import { type SimulatorServerOptions, startSimulatorServer } from './http-server.ts';
import { createPortBook } from './listeners.ts';

const opened: { close(): Promise<unknown> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function bench(options: Partial<SimulatorOptions> = {}, serverOptions: SimulatorServerOptions = {}) {
  const simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1), ...options });
  const server = await startSimulatorServer(simulator, serverOptions);
  const transport = createUndiciTransport();
  opened.push(server, transport);
  const send = sender(transport, server.baseURL);
  const authorization = 'Basic admin-id:admin-secret-0123456789';
  const token = (await send('POST', '/api/v1/auth', { headers: { authorization } })).text;
  const ask = (method: string, path: string, body?: unknown) =>
    send(method, `${CLUSTERS}${path}`, { token, ...(body === undefined ? {} : { body }) });
  const serverOf =
    (id: string, index = 0): Send =>
    async (...request) => {
      await server.listening();
      return sender(transport, `http://${addressOf(simulator, id, index)}`)(...request);
    };
  return { simulator, server, transport, send, token, ask, serverOf };
}

/** Waits for a condition that depends on the real clock or the network. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

function portOfServer(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('over HTTP', () => {
  it('a server listens on a port of its own, only while it is running', async () => {
    const clock = manualClock();
    const { ask, simulator, transport } = await bench({
      clock,
      knobs: { provisionMs: [1000, 1000], suspendMs: [1000, 1000], resumeMs: [1000, 1000], destroyMs: [1000, 1000] },
    });
    await ask('POST', '/deploy', DEPLOY);
    const address = addressOf(simulator, 'orders');
    const health = async (): Promise<unknown> => {
      const answer = await sender(transport, `http://${address}`)('GET', '/health');
      // A connection kept from before may break only when it is used.
      return answer.failure === 'lost' ? health() : (answer.failure ?? answer.status);
    };
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(await health()).toBe('unreachable');
    clock.advance(1000);
    expect(await health()).toBe(204);
    await ask('POST', '/orders/suspend');
    expect(await health()).toBe(204);
    clock.advance(1000);
    expect(await health()).toBe('unreachable');
    await ask('POST', '/orders/resume');
    expect(await health()).toBe('unreachable');
    clock.advance(1000);
    expect(await health()).toBe(204);
    expect(addressOf(simulator, 'orders')).toBe(address);
    await ask('DELETE', '/orders');
    clock.advance(1000);
    expect(await health()).toBe('unreachable');
  });

  it('time passes while nobody looks', async () => {
    const { simulator, ask } = await bench({ knobs: { provisionMs: [20, 20] } });
    const running = new Promise<void>((resolve) => {
      simulator.onChange((cluster) => {
        if (cluster?.status === 'running') resolve();
      });
    });
    await ask('POST', '/deploy', DEPLOY);
    await running;
  });

  it('several servers of a cluster share what they hold', async () => {
    const { simulator, serverOf } = await bench();
    simulator.deployForeign({ id: 'three', serverCount: 3, version: '2.29.1' });
    const signIn = await serverOf('three')('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
    const token = String(signIn.json()['token']);
    await serverOf('three')('POST', '/v1/databases/main', { token });
    for (const index of [0, 1, 2]) {
      const answer = await serverOf('three', index)('GET', '/v1/databases', { token });
      expect(answer.json()).toEqual({ databases: [{ name: 'main' }] });
    }
  });

  it('moves a server whose port somebody else has taken', async () => {
    const { simulator, serverOf } = await bench();
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    opened.push({ close: () => new Promise((resolve) => squatter.close(resolve)) });
    const taken = portOfServer(squatter);
    const book = createPortBook('127.0.0.1', taken + 1);
    let turn = 0;
    simulator.useAddresses({ ...book, take: () => (turn++ === 0 ? `127.0.0.1:${taken}` : book.take()) });
    simulator.deployForeign({ id: 'orders' });
    expect((await serverOf('orders')('GET', '/health')).status).toBe(204);
    expect(addressOf(simulator, 'orders')).not.toBe(`127.0.0.1:${taken}`);
  });

  it('gives clients another host if they know it by another', async () => {
    const simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1) });
    const server = await startSimulatorServer(simulator, { advertisedHost: 'host.example' });
    opened.push(server);
    simulator.deployForeign({ id: 'orders' });
    expect(addressOf(simulator, 'orders')).toMatch(/^host\.example:\d+$/);
    expect(server.baseURL).toMatch(/^http:\/\/host\.example:\d+$/);
  });

  it('can be reached on loopback when it listens everywhere', async () => {
    const { server, simulator, serverOf } = await bench({}, { host: '0.0.0.0' });
    expect(server.baseURL).toMatch(/^http:\/\/127\.0\.0\.1:/);
    simulator.deployForeign({ id: 'orders' });
    expect((await serverOf('orders')('GET', '/health')).status).toBe(204);
  });

  it('serves clusters that existed before it started', async () => {
    const simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1) });
    simulator.deployForeign({ id: 'orders' });
    const server = await startSimulatorServer(simulator);
    const transport = createUndiciTransport();
    opened.push(server, transport);
    await server.listening();
    expect((await sender(transport, `http://${addressOf(simulator, 'orders')}`)('GET', '/health')).status).toBe(204);
  });

  it('says so when its port is taken', async () => {
    const { server } = await bench();
    const simulator = createSimulator({ clock: systemClock, random: createSeededRandom(1) });
    const port = Number(new URL(server.baseURL).port);
    await expect(startSimulatorServer(simulator, { port })).rejects.toThrow('EADDRINUSE');
  });

  it('refuses a body that is larger than any', async () => {
    const { send } = await bench();
    const answer = await send('POST', '/api/v1/auth', { raw: 'x'.repeat(17 * 1024 * 1024) });
    expect([0, 413]).toContain(answer.status);
  });

  it('survives what is not HTTP at all', async () => {
    const { server, send } = await bench();
    const socket = connect(Number(new URL(server.baseURL).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.end('nonsense\r\n\r\n');
    });
    expect((await send('GET', '/_simulator/faults')).status).toBe(200);
  });
});

describe('a fault ends over HTTP as it does in process', () => {
  const effects: readonly FaultEffect[] = [
    ...(['errorBefore', '5xx', '429', 'html', 'reset', 'outage', 'expiredToken', 'lostAnswer', 'truncated'] as const),
    'brokenBody',
  ];
  const comparable = (answer: Reply) => [answer.status, answer.failure, answer.headers['retry-after']];

  it.each(effects)('%s on the management API', async (effect) => {
    const { simulator, ask, token } = await bench();
    const inProcess = sender(simulator.transport, simulator.baseURL);
    const fault: Fault = { effect, match: { operation: 'list' }, times: 1 };
    simulator.faults.add(fault);
    const overHTTP = comparable(await ask('GET', ''));
    simulator.faults.add(fault);
    expect(overHTTP).toEqual(comparable(await inProcess('GET', CLUSTERS, { token })));
  });

  it.each(effects)('%s on a server', async (effect) => {
    const { simulator, serverOf } = await bench();
    simulator.deployForeign({ id: 'orders' });
    const fault: Fault = { effect, match: { api: 'server' } };
    const headers = { authorization: 'Bearer nobody' };
    const id = simulator.faults.add(fault);
    const overHTTP = comparable(await serverOf('orders')('GET', '/v1/databases', { headers }));
    const inProcess = sender(simulator.transport, `http://${addressOf(simulator, 'orders')}`);
    expect(overHTTP).toEqual(comparable(await inProcess('GET', '/v1/databases', { headers })));
    simulator.faults.remove(id);
  });

  it('hang holds until the client has had enough', async () => {
    const { simulator, ask, send, token } = await bench();
    simulator.faults.add({ effect: 'hang', match: { operation: 'list' } });
    const gone = new AbortController();
    const hanging = send('GET', CLUSTERS, { token, signal: gone.signal });
    expect((await ask('GET', '/nothing')).status).toBe(404);
    gone.abort();
    expect((await hanging).failure).toBe('aborted');
    await until(() => simulator.count('list') === 1);
    expect(clusterNamed(simulator, 'orders')).toBeUndefined();
  });
});

describe('the port book', () => {
  it('goes upwards, past ports that browsers refuse, and gives none twice', () => {
    const book = createPortBook('h', 6_664);
    expect([book.take(), book.take(), book.take()]).toEqual(['h:6664', 'h:6670', 'h:6671']);
    book.giveBack('h:6670');
    expect([book.take('h:6670'), book.take('h:6670'), book.take('other:6673')]).toEqual(['h:6670', 'h:6672', 'h:6673']);
  });

  it('starts again at the bottom after the last port', () => {
    const book = createPortBook('h', 65_535);
    expect([book.take(), book.take()]).toEqual(['h:65535', 'h:1024']);
  });
});
