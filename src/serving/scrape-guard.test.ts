import { expect, onTestFinished, test } from 'vitest';
import { HttpError } from '../base/http.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { type HttpServer, serve } from './http-server.ts';
import { createScrapeGuard } from './scrape-guard.ts';

/** An API server that knows two tokens, of whom one may see `/metrics`. */
function bench() {
  const clock = virtualClock();
  const asked: string[] = [];
  const warned: string[] = [];
  const world = { down: false, mayGet: true };
  const users: Readonly<Record<string, string>> = { 'prometheus-token': 'prometheus', 'other-token': 'other' };
  const reviews = {
    authenticate: async (token: string) => {
      asked.push(`authenticate ${token}`);
      if (world.down) throw new HttpError('unreachable', 'Connection refused');
      const username = users[token];
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

test('a verdict counts for a minute, a refusal for ten seconds', async () => {
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

test('nothing is shown while the API server does not say who asks, and nothing of that is remembered', async () => {
  const { ask, warned, world } = bench();
  world.down = true;
  expect(await ask('Bearer prometheus-token')).toBe(503);
  expect(warned).toEqual(['Cannot ask the API server who may get /metrics: Connection refused']);
  world.down = false;
  expect(await ask('Bearer prometheus-token')).toBe(200);
});

test('tokens without end do not fill the memory', async () => {
  const { ask, asked } = bench();
  for (let count = 0; count < 1_000; count++) await ask(`Bearer random-${count}`);
  expect(await ask('Bearer random-999')).toBe(401);
  expect(asked).toHaveLength(1_000);
  // The oldest went when one more came.
  await ask('Bearer random-1000');
  await ask('Bearer random-0');
  expect(asked.at(-1)).toBe('authenticate random-0');
});

test('a server asks the guard before each page, and asks for a token where there is none', async () => {
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
