import { describe, expect, it } from 'vitest';
import { serverBench, settled } from '../../../test/support/simulator.ts';
import type { Dialect } from '../dialect.ts';
import type { Knobs } from '../knobs.ts';

async function bench(dialect: Dialect = 'document', knobs: Partial<Knobs> = {}) {
  const made = await serverBench(dialect, knobs);
  await made.query('schema', 'define attribute name, value string; entity person, owns name;');
  const open = (transactionType: string, transactionOptions: Record<string, number> = {}) =>
    made.send('POST', '/v1/transactions/open', {
      token: made.token,
      body: { databaseName: 'main', transactionType, transactionOptions },
    });
  const opened = async (type: string, options?: Record<string, number>) =>
    String((await open(type, options)).json()['transactionId']);
  const step = (id: string, action: string, body?: unknown, token = made.token) =>
    made.send('POST', `/v1/transactions/${id}/${action}`, { token, ...(body === undefined ? {} : { body }) });
  const people = async () =>
    ((await made.query('read', 'match $p isa person, has name $n;')).json()['answers'] as { data: unknown }[]).length;
  return { ...made, open, opened, step, people };
}

const insert = (name: string) => ({ query: `insert $p isa person, has name ${JSON.stringify(name)};` });

describe('a transaction', () => {
  it('keeps its changes when it is committed, and not when it is closed or rolled back', async () => {
    const { opened, step, people } = await bench();
    for (const [end, kept] of [
      ['close', 0],
      ['rollback', 0],
      ['commit', 1],
    ] as const) {
      const id = await opened('write');
      expect((await step(id, 'query', insert('Eve'))).status).toBe(200);
      expect((await step(id, end)).status).toBe(200);
      expect(await people()).toBe(kept);
    }
  });

  it('sees its own changes, but not those that others commit meanwhile', async () => {
    const { opened, step, people } = await bench();
    const [reader, writer] = [await opened('read'), await opened('write')];
    await step(writer, 'query', insert('Eve'));
    const look = async (id: string) => (await step(id, 'query', { query: 'match $p isa person;' })).json()['answers'];
    expect(await look(writer)).toHaveLength(1);
    await step(writer, 'commit');
    expect(await look(reader)).toHaveLength(0);
    expect(await people()).toBe(1);
  });

  it('is merged with what others committed meanwhile', async () => {
    const { opened, step, people } = await bench();
    const [first, second] = [await opened('write'), await opened('write')];
    await step(first, 'query', insert('Eve'));
    await step(second, 'query', insert('Bob'));
    expect((await step(first, 'commit')).status).toBe(200);
    expect((await step(second, 'commit')).status).toBe(200);
    expect(await people()).toBe(2);
  });

  it('cannot be committed when somebody has deleted what it changes', async () => {
    const { opened, step, query, people } = await bench();
    await query('write', 'insert $p isa person;');
    const id = await opened('write');
    await step(id, 'query', { query: 'match $p isa person; insert $p has name "Eve";' });
    await query('write', 'match $p isa person; delete $p;');
    expect((await step(id, 'commit')).status).toBe(400);
    expect((await step(id, 'commit')).status).toBe(404);
    expect(await people()).toBe(0);
  });

  it('does nothing with a query that fails half way', async () => {
    const { opened, step, people } = await bench('document');
    const id = await opened('write');
    await step(id, 'query', insert('Eve'));
    const failing = { query: 'insert $p isa person, has name "Bob"; $q isa person, has nothing "x";' };
    expect((await step(id, 'query', failing)).status).toBe(400);
    expect((await step(id, 'commit')).status).toBe(200);
    expect(await people()).toBe(1);
  });

  it.each([
    ['read', 'insert $p isa person;'],
    ['read', 'define entity other;'],
    ['write', 'define entity other;'],
  ])('of type %s refuses %j', async (type, query) => {
    const { opened, step } = await bench();
    expect((await step(await opened(type), 'query', { query })).status).toBe(400);
  });

  it('belongs to the user who opened it', async () => {
    const { opened, step, simulator, signIn } = await bench();
    simulator.setPassword('orders', 'app', 'app-password');
    const app = String((await signIn('app', 'app-password')).json()['token']);
    const id = await opened('write');
    for (const action of ['close', 'commit', 'rollback']) {
      expect((await step(id, action, undefined, app)).status).toBe(403);
    }
    expect((await step(id, 'query', insert('Eve'), app)).status).toBe(403);
  });

  it('is closed without keeping its changes when its time is over', async () => {
    const { opened, step, people, clock } = await bench();
    const id = await opened('write', { transactionTimeoutMillis: 1000 });
    await step(id, 'query', insert('Eve'));
    clock.advance(999);
    expect((await step(id, 'query', insert('Bob'))).status).toBe(200);
    clock.advance(1);
    expect((await step(id, 'commit')).status).toBe(404);
    expect(await people()).toBe(0);
  });

  it('stays open for five minutes by default', async () => {
    const { opened, step, clock } = await bench();
    const id = await opened('read');
    clock.advance(5 * 60_000 - 1);
    expect((await step(id, 'query', { query: 'match $p isa person;' })).status).toBe(200);
    clock.advance(1);
    expect((await step(id, 'close')).status).toBe(404);
  });

  it('ends with the server', async () => {
    const { opened, step, simulator, token, send, signIn } = await bench();
    const id = await opened('write');
    simulator.restartServers('orders');
    expect((await send('GET', '/v1/databases', { token })).status).toBe(401);
    const again = String((await signIn('admin', 'password')).json()['token']);
    expect((await step(id, 'commit', undefined, again)).status).toBe(404);
  });
});

describe('the schema lock', () => {
  it('is waited for as long as the request says', async () => {
    const { open, opened, clock } = await bench();
    await opened('schema');
    const second = open('schema', { schemaLockAcquireTimeoutMillis: 500 });
    await settled();
    clock.advance(500);
    expect((await second).status).toBe(400);
  });

  it('is waited for ten seconds by default', async () => {
    const { open, opened, clock } = await bench();
    await opened('schema');
    let answered = false;
    const second = open('schema').then((answer) => {
      answered = true;
      return answer.status;
    });
    await settled();
    clock.advance(9_999);
    await settled();
    expect(answered).toBe(false);
    clock.advance(1);
    expect(await second).toBe(400);
  });

  it('goes to those who wait, in the order they came', async () => {
    const { open, opened, step } = await bench();
    const first = await opened('schema');
    const order: string[] = [];
    const waiting = ['second', 'third'].map(async (name) => {
      const answer = await open('schema');
      order.push(name);
      return String(answer.json()['transactionId']);
    });
    await settled();
    await step(first, 'close');
    const second = await waiting[0];
    expect(order).toEqual(['second']);
    await step(second ?? '', 'commit');
    await waiting[1];
    expect(order).toEqual(['second', 'third']);
  });

  it('is free when the time of its holder is over', async () => {
    const { open, opened, clock } = await bench();
    await opened('schema', { transactionTimeoutMillis: 1000 });
    const second = open('schema');
    await settled();
    clock.advance(1000);
    expect((await second).status).toBe(200);
  });

  it('does not keep others from reading and writing', async () => {
    const { open, opened } = await bench();
    await opened('schema');
    expect((await open('read')).status).toBe(200);
    expect((await open('write')).status).toBe(200);
  });

  it('is not given to a caller whose token died while it waited', async () => {
    const { open, opened, simulator } = await bench();
    await opened('schema');
    const second = open('schema');
    await settled();
    simulator.restartServers('orders');
    expect((await second).status).toBe(401);
    expect((await open('schema')).status).toBe(401);
  });

  it('is forgotten by a caller who goes away', async () => {
    const { send, token, opened, step, open, simulator } = await bench();
    const first = await opened('schema');
    const gone = new AbortController();
    const body = { databaseName: 'main', transactionType: 'schema' };
    const waiting = send('POST', '/v1/transactions/open', { token, body, signal: gone.signal });
    await settled();
    gone.abort();
    expect((await waiting).failure).toBe('aborted');
    await step(first, 'close');
    expect((await open('schema')).status).toBe(200);
    expect(simulator.inspect().teams[0]?.spaces[0]?.clusters[0]?.openTransactions).toBe(1);
  });

  it('is needed by one-shot schema queries too', async () => {
    const { query, opened, step } = await bench();
    const first = await opened('schema');
    const waiting = query('schema', 'define entity other;');
    await settled();
    await step(first, 'close');
    expect((await waiting).status).toBe(200);
  });
});

describe('a query', () => {
  it.each(['document', 'field'] as const)(
    'takes its time in dialect %s, and is answered 408 when its transaction ends first',
    async (dialect) => {
      const { opened, step, simulator, clock } = await bench(dialect);
      const id = await opened('write', { transactionTimeoutMillis: 1000 });
      simulator.setKnobs({ queryMs: 600 });
      const first = step(id, 'query', insert('Eve'));
      await settled();
      clock.advance(600);
      expect((await first).status).toBe(200);
      const second = step(id, 'query', insert('Bob'));
      await settled();
      clock.advance(400);
      expect((await second).status).toBe(408);
    },
  );

  it('as one shot is committed, or closed, as the request says', async () => {
    const { send, token, people } = await bench();
    const body = (commit: boolean) => ({
      databaseName: 'main',
      transactionType: 'write',
      ...insert('Eve'),
      commit,
    });
    expect((await send('POST', '/v1/query', { token, body: body(false) })).status).toBe(200);
    expect(await people()).toBe(0);
    expect((await send('POST', '/v1/query', { token, body: body(true) })).status).toBe(200);
    expect(await people()).toBe(1);
  });

  it('as one shot leaves nothing open, however it ends', async () => {
    const { query, simulator } = await bench();
    for (const text of ['match $p isa person;', 'nonsense', 'match $p isa nothing;']) await query('read', text);
    for (const text of ['insert $p isa nothing;', 'insert $p isa person;']) await query('write', text);
    for (const text of ['define person owns nothing;', 'define entity other;']) await query('schema', text);
    expect(simulator.inspect().teams[0]?.spaces[0]?.clusters[0]?.openTransactions).toBe(0);
  });
});
