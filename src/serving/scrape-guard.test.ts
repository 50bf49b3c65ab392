import { expect, onTestFinished, test } from 'vitest';
import { HttpError } from '../base/transport.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { type HttpServer, serve } from './http-server.ts';
import { createScrapeGuard } from './scrape-guard.ts';

/** An API server that knows two users by their tokens, one of whom may see `/metrics`. */
function bench() {
  const clock = virtualClock();
  const asked: string[] = [];
  const warned: string[] = [];
  const world = { down: false, mayGet: true };
  const reviews = {
    authenticate: async (token: string) => {
      asked.push(`authenticate ${token}`);
      if (world.down) throw new HttpError('unreachable', 'Connection refused');
      const username = /^(prometheus|other)-token/.exec(token)?.[1];
      return username === undefined ? undefined : { username };
    },
    mayGet: async ({ username }: { readonly username: string }, path: string) => {
      asked.push(`${username} get ${path}`);
      return world.mayGet && username === 'prometheus';
    },
  };
  const guard = createScrapeGuard(reviews, clock, { warn: (_fields, message) => void warned.push(message) });
  const ask = async (authorization?: string) => (await guard('/metrics', authorization))?.status ?? 200;
  return { guard, ask, clock, asked, warned, world };
}

test.each([
  [undefined, 401],
  ['', 401],
  ['Basic cHJvbWV0aGV1cw==', 401],
  ['Bearer', 401],
  ['Bearer unknown', 401],
  ['Bearer other-token', 403],
  ['Bearer prometheus-token', 200],
  ['bearer prometheus-token', 200],
])('with authorization %j the answer is %i', async (authorization, status) => {
  expect(await bench().ask(authorization)).toBe(status);
});

test('a verdict is kept for a minute, a refusal for ten seconds', async () => {
  const { ask, asked, clock, world } = bench();
  expect(await ask('Bearer prometheus-token')).toBe(200);
  await clock.advance(59_000);
  expect(await ask('Bearer prometheus-token')).toBe(200);
  expect(asked).toHaveLength(2);
  world.mayGet = false;
  await clock.advance(2_000);
  expect(await ask('Bearer prometheus-token')).toBe(403);
  world.mayGet = true;
  expect(await ask('Bearer prometheus-token')).toBe(403);
  await clock.advance(11_000);
  expect(await ask('Bearer prometheus-token')).toBe(200);
});

test('nothing is shown while the API server does not say who asks, and none of that is remembered', async () => {
  const { ask, warned, world } = bench();
  world.down = true;
  expect(await ask('Bearer prometheus-token')).toBe(503);
  expect(warned).toEqual(['Cannot ask the API server who may get /metrics: Connection refused']);
  world.down = false;
  expect(await ask('Bearer prometheus-token')).toBe(200);
});

test('a flood of tokens does not fill the memory', async () => {
  const { ask, clock } = bench();
  for (let count = 0; count <= 1_000; count++) {
    await clock.advance(100);
    expect(await ask(`Bearer prometheus-token-${count}`)).toBe(200);
  }
  await clock.advance(61_000);
  for (let count = 0; count < 100; count++) await ask(`Bearer random-${count}`);
  // The oldest was forgotten when one more came.
  expect(await ask('Bearer prometheus-token-0')).toBe(429);
  expect(await ask('Bearer prometheus-token-1')).toBe(200);
});

test('a flood of tokens has the API server asked ten times a second, and shuts out nobody who was let in', async () => {
  const { ask, asked, clock, world } = bench();
  expect(await ask('Bearer prometheus-token')).toBe(200);
  await clock.advance(61_000);
  asked.length = 0;
  const statuses: number[] = [];
  for (let count = 0; count < 5_000; count++) statuses.push(await ask(`Bearer random-${count}`));
  expect(statuses.indexOf(429)).toBe(21);
  expect(asked).toHaveLength(21);
  expect(await ask('Bearer prometheus-token')).toBe(200);
  await clock.advance(1_000);
  for (let count = 0; count < 100; count++) await ask(`Bearer others-${count}`);
  expect(asked.filter((each) => each.startsWith('authenticate others'))).toHaveLength(10);
  // A user that is no longer let in is a stranger.
  world.mayGet = false;
  await clock.advance(61_000);
  expect(await ask('Bearer prometheus-token')).toBe(403);
  for (let count = 0; count < 100; count++) await ask(`Bearer more-${count}`);
  await clock.advance(10_500);
  for (let count = 0; count < 200; count++) await ask(`Bearer most-${count}`);
  expect(await ask('Bearer prometheus-token')).toBe(429);
});

test('a server asks the guard before each page, and asks for a token if there is none', async () => {
  const { guard } = bench();
  const pages = { '/metrics': () => ({ status: 200, contentType: 'text/plain', body: 'mooring_leader 1' }) };
  const server: HttpServer = await serve('127.0.0.1:0', pages, { guard });
  onTestFinished(() => server.close());
  const get = (headers: Readonly<Record<string, string>>) => fetch(`http://${server.address}/metrics`, { headers });
  const refused = await get({});
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(await refused.text()).not.toContain('mooring_leader');
  expect(await (await get({ authorization: 'Bearer prometheus-token' })).text()).toBe('mooring_leader 1');
});
