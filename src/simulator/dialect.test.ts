import { describe, expect, it } from 'vitest';
import {
  addressOf,
  CLUSTERS,
  cloudBench,
  DEPLOY,
  type Reply,
  sender,
  serverBench,
} from '../../test/support/simulator.ts';
import { DIALECT_RULES, DIALECTS, type Dialect } from './dialect.ts';

/* Each sentence of compatibility.md, as the document has it and as the field has it. */

const DEFINE = 'define attribute name, value string; entity person, owns name @card(0..9);';

async function withSchema(dialect: Dialect) {
  const bench = await serverBench(dialect);
  await bench.query('schema', DEFINE);
  return bench;
}

async function withTransaction(dialect: Dialect, transactionType: 'read' | 'write' | 'schema') {
  const bench = await withSchema(dialect);
  const open = (type = transactionType) =>
    bench.send('POST', '/v1/transactions/open', {
      token: bench.token,
      body: {
        databaseName: 'main',
        transactionType: type,
        transactionOptions: { schemaLockAcquireTimeoutMillis: 0 },
      },
    });
  const id = (await open()).json()['transactionId'];
  const step = (action: string, body?: unknown) =>
    bench.send('POST', `/v1/transactions/${id}/${action}`, {
      token: bench.token,
      ...(body === undefined ? {} : { body }),
    });
  return { ...bench, open, step };
}

/** Shown as the status, or as no status if there was no answer. */
const statusOf = (reply: Reply) => reply.status;

describe('schema', () => {
  const rows = [
    ['document', 'schema', '""', 'application/json'],
    ['document', 'type-schema', '""', 'application/json'],
    ['field', 'schema', 'define', 'text/plain; charset=utf-8'],
    ['field', 'type-schema', 'define', 'text/plain; charset=utf-8'],
  ] as const;

  it.each(rows)('in dialect %s: an undefined %s reads %j', async (dialect, what, text, type) => {
    const { send, token } = await serverBench(dialect);
    const answer = await send('GET', `/v1/databases/main/${what}`, { token });
    expect([answer.text, answer.headers['content-type']]).toEqual([text, type]);
  });

  it.each(DIALECTS)('in dialect %s: its text can be sent back as it is', async (dialect) => {
    const { send, token, query } = await withSchema(dialect);
    const read = async () => {
      const { text } = await send('GET', '/v1/databases/main/schema', { token });
      return dialect === 'document' ? String(JSON.parse(text)) : text;
    };
    const text = await read();
    expect(text).toContain('owns name @card(0..9)');
    expect((await query('schema', text)).status).toBe(200);
    expect(await read()).toBe(text);
  });

  it('in dialect field: so can the text of an undefined one', async () => {
    const { query } = await serverBench('field');
    expect((await query('schema', 'define')).status).toBe(200);
  });
});

describe('success', () => {
  it.each(DIALECTS)('in dialect %s: empty answers are 200 without content type', async (dialect) => {
    const { send, token } = await serverBench(dialect);
    const answer = await send('POST', '/v1/databases/fresh', { token });
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([200, '', undefined]);
  });

  it.each([
    ['document', 200],
    ['field', 206],
  ] as const)('in dialect %s: cut answers are %i with warning', async (dialect, status) => {
    const { send, token, query } = await withSchema(dialect);
    await query('write', 'insert $a isa person; $b isa person;');
    const answer = await send('POST', '/v1/query', {
      token,
      body: {
        databaseName: 'main',
        transactionType: 'read',
        query: 'match $p isa person;',
        commit: false,
        queryOptions: { answerCountLimit: 1 },
      },
    });
    expect(answer.status).toBe(status);
    expect(answer.json()['answers']).toHaveLength(1);
    expect(answer.json()['warning']).toEqual(expect.stringContaining('first 1'));
  });
});

describe('keys', () => {
  it.each([
    ['document', { queryType: 'schema', answerType: 'ok', warning: null }],
    ['field', { queryType: 'schema', answerType: 'ok', warning: null, answers: null, comment: null, query: null }],
  ] as const)('in dialect %s: optional ones are absent or null, unknown ones appear', async (dialect, expected) => {
    const { query } = await serverBench(dialect);
    expect((await query('schema', DEFINE)).json()).toEqual(expected);
  });

  it.each([
    ['document', { p: { kind: 'entity', iid: expect.stringMatching(/^0x/) } }],
    ['field', { p: { kind: 'entity', iid: expect.stringMatching(/^0x/), type: null }, n: null }],
  ] as const)("in dialect %s: a row's concept may be missing or null", async (dialect, expected) => {
    const { send, token, query } = await withSchema(dialect);
    await query('write', 'insert $a isa person;');
    const answer = await send('POST', '/v1/query', {
      token,
      body: {
        databaseName: 'main',
        transactionType: 'read',
        query: 'match $p isa person; try { $p has name $n; };',
        commit: false,
        queryOptions: { includeInstanceTypes: false },
      },
    });
    expect(answer.json()['answers']).toEqual([{ data: expected }]);
  });
});

describe('given rows', () => {
  const query = 'given $n; insert $p isa person, has name == $n;';
  const rows = [{ n: { kind: 'value', valueType: 'string', value: 'Eve' } }];

  it.each([
    ['document', 'given', 200],
    ['document', 'givenRows', 400],
    ['field', 'given', 400],
    ['field', 'givenRows', 200],
  ] as const)('in dialect %s: the field %s answers %i', async (dialect, field, status) => {
    const { step } = await withTransaction(dialect, 'write');
    expect((await step('query', { query, [field]: rows })).status).toBe(status);
  });

  it('in dialect field: `given` is ignored if the query declares nothing', async () => {
    const { step } = await withTransaction('field', 'write');
    expect((await step('query', { query: 'match $p isa person;', given: rows })).status).toBe(200);
  });
});

describe('what is missing or exists already', () => {
  it.each([
    ['document', 404],
    ['field', 400],
  ] as const)('in dialect %s: a missing database gives %i to delete and open', async (dialect, status) => {
    const { send, token } = await serverBench(dialect);
    const open = { databaseName: 'no', transactionType: 'read' };
    expect((await send('DELETE', '/v1/databases/no', { token })).status).toBe(status);
    expect((await send('POST', '/v1/transactions/open', { token, body: open })).status).toBe(status);
    expect((await send('POST', '/v1/query', { token, body: { ...open, query: 'match $x isa y;' } })).status).toBe(
      status,
    );
    expect((await send('GET', '/v1/databases/no', { token })).status).toBe(404);
  });

  it.each([
    ['document', 400],
    ['field', 200],
  ] as const)(
    'in dialect %s: creating an existing database gives %i and leaves it as it is',
    async (dialect, status) => {
      const { send, token, query } = await withSchema(dialect);
      expect((await send('POST', '/v1/databases/main', { token })).status).toBe(status);
      expect((await query('read', 'match $p isa person;')).status).toBe(200);
    },
  );

  it.each([
    ['document', 400],
    ['field', 401],
  ] as const)('in dialect %s: a missing token gives %i', async (dialect, status) => {
    const { send } = await serverBench(dialect);
    expect((await send('GET', '/v1/databases')).status).toBe(status);
    expect((await send('POST', '/v1/transactions/1/close')).status).toBe(status);
  });
});

describe('transactions', () => {
  it.each([
    ['document', 404],
    ['field', 200],
  ] as const)('in dialect %s: close answers %i for one that is gone', async (dialect, status) => {
    const { step } = await withTransaction(dialect, 'read');
    expect(statusOf(await step('close'))).toBe(200);
    expect(statusOf(await step('close'))).toBe(status);
    expect(statusOf(await step('rollback'))).toBe(404);
  });

  it('in dialect field: after rollback it is still open and still holds its lock', async () => {
    const { step, open } = await withTransaction('field', 'schema');
    await step('query', { query: 'define entity other;' });
    expect(statusOf(await step('rollback'))).toBe(200);
    expect(statusOf(await open())).toBe(400);
    expect((await step('query', { query: 'match entity $t;' })).text).not.toContain('other');
    expect(statusOf(await step('commit'))).toBe(200);
    expect(statusOf(await open())).toBe(200);
  });

  it('in dialect document: after rollback it is closed', async () => {
    const { step, open } = await withTransaction('document', 'schema');
    expect(statusOf(await step('rollback'))).toBe(200);
    expect(statusOf(await step('commit'))).toBe(404);
    expect(statusOf(await open())).toBe(200);
  });

  it.each([
    ['document', 'write', 'insert $p isa nothing;', 200],
    ['document', 'schema', 'define person owns nothing;', 200],
    ['document', 'schema', 'nonsense', 200],
    ['field', 'write', 'insert $p isa nothing;', 404],
    ['field', 'schema', 'define person owns nothing;', 404],
    ['field', 'write', 'nonsense', 200],
    ['field', 'schema', 'define define', 200],
    ['field', 'read', 'match $p isa nothing;', 200],
  ] as const)(
    'in dialect %s: after a failed %s query %j another one answers %i',
    async (dialect, type, query, after) => {
      const { step } = await withTransaction(dialect, type);
      expect(statusOf(await step('query', { query }))).toBe(400);
      expect(statusOf(await step('query', { query: 'match $p isa person;' }))).toBe(after);
    },
  );

  it.each([
    ['document', 200],
    ['field', 400],
  ] as const)('in dialect %s: commit of a read transaction is %i', async (dialect, status) => {
    expect(statusOf(await (await withTransaction(dialect, 'read')).step('commit'))).toBe(status);
  });

  it.each(DIALECTS)('in dialect %s: the schema lock not acquired in time is 400', async (dialect) => {
    const { open } = await withTransaction(dialect, 'schema');
    expect(statusOf(await open())).toBe(400);
  });

  it.each([
    ['document', 0],
    ['field', 1],
  ] as const)('in dialect %s: a one-shot write without `commit` keeps %i', async (dialect, kept) => {
    const { send, token, query } = await withSchema(dialect);
    const body = { databaseName: 'main', transactionType: 'write', query: 'insert $p isa person;' };
    expect(statusOf(await send('POST', '/v1/query', { token, body }))).toBe(200);
    expect((await query('read', 'match $p isa person;')).json()['answers']).toHaveLength(kept);
  });
});

describe('errors', () => {
  it('in dialect field: codes are not stable', async () => {
    const { send } = await serverBench('field');
    const codes = new Set<unknown>();
    for (let attempt = 0; attempt < 20; attempt++) {
      codes.add((await send('GET', '/v1/databases', { token: 'nobody' })).json()['code']);
    }
    expect(codes.size).toBeGreaterThan(5);
  });

  it('in dialect document: they are', async () => {
    const { send } = await serverBench('document');
    expect((await send('GET', '/v1/databases', { token: 'nobody' })).json()['code']).toBe('invalidToken');
  });
});

describe('servers of several machines', () => {
  async function secondary(dialect: Dialect) {
    const { simulator } = cloudBench({ dialect });
    simulator.deployForeign({ id: 'three', serverCount: 3, version: '2.29.1' });
    const [primary, other] = [addressOf(simulator, 'three'), addressOf(simulator, 'three', 1)];
    const send = sender(simulator.transport, `https://${other}`);
    const signedIn = await send('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
    return { send, primary, token: String(signedIn.json()['token']) };
  }

  it('in dialect field: answer changes with 421 and primaryAddress', async () => {
    const { send, primary, token } = await secondary('field');
    const answer = await send('POST', '/v1/databases/fresh', { token });
    expect([answer.status, answer.json()['primaryAddress']]).toEqual([421, primary]);
    expect((await send('GET', '/v1/databases', { token })).status).toBe(200);
  });

  it('in dialect field: names the server that is the primary now, wherever it is in the List', async () => {
    const { simulator } = cloudBench({ dialect: 'field' });
    simulator.deployForeign({ id: 'three', serverCount: 3, version: '2.29.1' });
    const [a, b, c] = [0, 1, 2].map((index) => addressOf(simulator, 'three', index));
    const servers = [{ address: c ?? '' }, { address: a ?? '' }, { address: b ?? '', isPrimary: true }];
    simulator.arrangeServers('three', servers);
    const create = async (address = '') => {
      const send = sender(simulator.transport, `https://${address}`);
      const signedIn = await send('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
      return send('POST', '/v1/databases/fresh', { token: String(signedIn.json()['token']) });
    };
    for (const address of [a, c]) expect((await create(address)).json()['primaryAddress']).toBe(b);
    expect((await create(b)).status).toBe(200);
    expect(addressOf(simulator, 'three')).toBe(c);
  });

  it('in dialect document: any of them accepts changes', async () => {
    const { send, token } = await secondary('document');
    expect((await send('POST', '/v1/databases/fresh', { token })).status).toBe(200);
    expect((await send('GET', '/v1/databases', { token })).json()).toEqual({ databases: [{ name: 'fresh' }] });
  });
});

describe('the management service', () => {
  it.each([
    ['document', { teamID: 'acme', spaceID: 'production', storageType: 'gp2-csi' }],
    ['field', { organization: 'acme', project: 'production', storageType: 'gp2', labels: {}, maintenanceWindow: null }],
  ] as const)(
    'in dialect %s: shows the owner of a cluster and its storage type in its own way',
    async (dialect, fields) => {
      const { send, token } = cloudBench({ dialect });
      const wanted = {
        ...DEPLOY,
        provider: 'aws',
        region: 'us-east-1',
        machineType: 'c8g.xlarge',
        storageType: 'gp2-csi',
      } as const;
      const answer = await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body: wanted });
      const { backupConfiguration: _, ...sent } = wanted;
      expect(answer.json()).toEqual({
        ...sent,
        status: 'starting',
        createdAt: expect.any(Number),
        servers: expect.any(Array),
        ...fields,
      });
    },
  );

  it.each([
    ['team', ['teamID', 'spaceID']],
    ['organization', ['organization', 'project']],
    ['both', ['organization', 'project', 'teamID', 'spaceID']],
    ['none', []],
  ] as const)('shows the ownership fields that knob `ownership: %s` wants', async (ownership, fields) => {
    const { simulator, send, token } = cloudBench({ knobs: { ownership } });
    simulator.deployForeign({ id: 'orders' });
    const shown = Object.keys((await send('GET', `${CLUSTERS}/orders`, { token: await token('read') })).json());
    const all = ['organization', 'project', 'teamID', 'spaceID'];
    expect(shown.filter((field) => all.includes(field))).toEqual(fields);
  });
});

it('has a rule for every difference, and every rule differs', () => {
  const { document, field } = DIALECT_RULES;
  const differing = Object.keys(document).filter(
    (name) => JSON.stringify(Reflect.get(document, name)) !== JSON.stringify(Reflect.get(field, name)),
  );
  expect(differing).toEqual(Object.keys(document));
});
