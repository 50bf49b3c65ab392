import { describe, expect, it } from 'vitest';
import { addressOf, CLUSTERS, cloudBench, clusterNamed, sender } from '../../../test/support/simulator.ts';
import { SENTINELS } from '../faults/sentinels.ts';
import { KNOB_SPECS } from '../knobs.ts';
import { ACT_NAMES } from './admin-requests.ts';

const ROOT = '/_simulator';

function bench() {
  const made = cloudBench();
  made.simulator.deployForeign({ id: 'orders' });
  return made;
}

describe('the admin interface', () => {
  it('shows everything as JSON', async () => {
    const { send, simulator } = bench();
    expect((await send('GET', `${ROOT}/state`)).json()).toEqual(JSON.parse(JSON.stringify(simulator.inspect())));
    expect((await send('GET', `${ROOT}/knobs`)).json()).toEqual({
      values: JSON.parse(JSON.stringify(simulator.knobs())),
      specs: KNOB_SPECS,
    });
    expect((await send('GET', `${ROOT}/sentinels`)).json()).toEqual(SENTINELS);
    expect((await send('GET', `${ROOT}/requests`)).json()).toEqual([]);
  });

  it('is not among the requests that it shows', async () => {
    const { send, simulator } = bench();
    await send('GET', `${ROOT}/state`);
    await send('GET', '/');
    expect(simulator.inspect().counters.total).toBe(0);
  });

  it('adds, lists and removes faults', async () => {
    const { send, token } = bench();
    const admin = await token('admin');
    const fault = { effect: '5xx', match: { operation: 'list' } };
    const added = await send('POST', `${ROOT}/faults`, { body: fault });
    expect(added.status).toBe(201);
    expect((await send('GET', CLUSTERS, { token: admin })).status).toBe(503);
    const { id } = added.json();
    expect((await send('GET', `${ROOT}/faults`)).json()).toEqual([{ ...fault, id, hits: 1 }]);
    expect((await send('DELETE', `${ROOT}/faults/${id}`)).status).toBe(204);
    expect((await send('DELETE', `${ROOT}/faults/${id}`)).status).toBe(404);
    expect((await send('GET', CLUSTERS, { token: admin })).status).toBe(200);
    await send('POST', `${ROOT}/faults`, { body: { effect: 'outage' } });
    expect((await send('DELETE', `${ROOT}/faults`)).status).toBe(204);
    expect((await send('GET', `${ROOT}/faults`)).json()).toEqual([]);
  });

  it('stays reachable through an outage of everything', async () => {
    const { send, simulator } = bench();
    simulator.faults.add({ effect: 'outage' });
    expect((await send('GET', `${ROOT}/faults`)).status).toBe(200);
  });

  it('turns knobs', async () => {
    const { send, simulator } = bench();
    const answer = await send('PATCH', `${ROOT}/knobs`, { body: { provisionMs: '1s-5s', levelsNest: false } });
    expect(answer.status).toBe(200);
    expect(simulator.knobs()).toMatchObject({ provisionMs: [1000, 5000], levelsNest: false });
  });

  it('shows a changed knob in clusters at once', async () => {
    const { send, token } = bench();
    const admin = await token('admin');
    await send('GET', `${CLUSTERS}/orders`, { token: admin });
    await send('PATCH', `${ROOT}/knobs`, { body: { ownership: 'none' } });
    expect((await send('GET', `${CLUSTERS}/orders`, { token: admin })).json()).not.toHaveProperty('teamID');
  });

  it.each([
    ['POST', '/faults', { effect: 'explosion' }],
    ['POST', '/faults', { effect: '5xx', match: { color: 'red' } }],
    ['POST', '/faults', { effect: '5xx', times: 0 }],
    ['POST', '/faults', []],
    ['PATCH', '/knobs', { gravity: 1 }],
    ['PATCH', '/knobs', { provisionMs: 'soon' }],
    ['POST', '/act/vanish', {}],
    ['POST', '/act/vanish', { clusterID: 'nothing' }],
    ['POST', '/act/beginTransition', { clusterID: 'orders', status: 'running' }],
    ['POST', '/act/explode', {}],
    ['POST', '/act/constructor', {}],
    ['POST', '/act/deployForeign', { id: 'orders' }],
  ])('answers 400 to %s %s %j and says why', async (method, path, body) => {
    const { send } = bench();
    const answer = await send(method, `${ROOT}${path}`, { body });
    expect([answer.status, answer.json()]).toEqual([400, { code: 'badRequest', message: expect.any(String) }]);
  });

  it('answers 400 to a body that is not JSON, and 404 to an unknown path', async () => {
    const { send } = bench();
    expect((await send('POST', `${ROOT}/faults`, { raw: '{' })).status).toBe(400);
    expect((await send('GET', `${ROOT}/nothing`)).status).toBe(404);
    expect((await send('PUT', `${ROOT}/faults`)).status).toBe(405);
  });

  it('accepts changes from its own page, not from pages of others', async () => {
    const { send, simulator } = bench();
    const body = { effect: 'outage' };
    const host = new URL(simulator.baseURL).host;
    for (const [origin, status] of [
      [`https://${host}`, 201],
      ['https://evil.example', 403],
      ['null', 403],
    ] as const) {
      expect((await send('POST', `${ROOT}/faults`, { body, headers: { origin } })).status).toBe(status);
    }
  });
});

describe('acting as somebody else', () => {
  const act = async (name: string, body: unknown) => {
    const made = bench();
    const before = clusterNamed(made.simulator, 'orders');
    const answer = await made.send('POST', `${ROOT}/act/${name}`, { body });
    expect([answer.status, answer.text]).toEqual([204, '']);
    return { ...made, before, after: clusterNamed(made.simulator, 'orders') };
  };

  const acts: Readonly<Record<string, () => Promise<void>>> = {
    deployForeign: async () => {
      const { simulator } = await act('deployForeign', { id: 'foreign', spaceID: 'staging', storageSizeGB: 77 });
      expect(clusterNamed(simulator, 'foreign')).toMatchObject({
        spaceID: 'staging',
        storageSizeGB: 77,
        status: 'running',
      });
    },
    replaceCluster: async () => {
      const { before, after } = await act('replaceCluster', { clusterID: 'orders', spaceID: 'production' });
      expect(after?.status).toBe('running');
      expect(after?.createdAt).not.toBe(before?.createdAt);
      expect(after?.servers[0]?.address).not.toBe(before?.servers[0]?.address);
    },
    vanish: async () => {
      expect((await act('vanish', { clusterID: 'orders' })).after).toBeUndefined();
    },
    beginTransition: async () => {
      const { before, after } = await act('beginTransition', { clusterID: 'orders', status: 'suspending' });
      expect([before?.status, after?.status]).toEqual(['running', 'suspended']);
    },
    changeCluster: async () => {
      const change = { storageSizeGB: 500, machineType: 'c2d-highcpu-16', id: 'renamed' };
      const { simulator, before } = await act('changeCluster', { clusterID: 'orders', change });
      expect(clusterNamed(simulator, 'renamed')).toMatchObject({ ...change, createdAt: before?.createdAt });
    },
    restartServers: async () => {
      const { simulator, send } = bench();
      const server = sender(simulator.transport, `https://${addressOf(simulator, 'orders')}`);
      await server('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
      expect(clusterNamed(simulator, 'orders')?.liveTokens).toBe(1);
      await send('POST', `${ROOT}/act/restartServers`, { body: { clusterID: 'orders' } });
      expect(clusterNamed(simulator, 'orders')?.liveTokens).toBe(0);
    },
    moveServers: async () => {
      const { before, after } = await act('moveServers', { clusterID: 'orders' });
      expect(after?.servers).toEqual([{ address: expect.any(String), status: 'running' }]);
      expect(after?.servers).not.toEqual(before?.servers);
    },
    arrangeServers: async () => {
      const { simulator, send, before } = await act('arrangeServers', { clusterID: 'orders', servers: [{}] });
      const servers = () => clusterNamed(simulator, 'orders')?.servers;
      const arrange = (wanted: readonly object[]) =>
        send('POST', `${ROOT}/act/arrangeServers`, { body: { clusterID: 'orders', servers: wanted } });
      const [{ address } = expect.unreachable()] = servers() ?? [];
      expect(address).not.toBe(before?.servers[0]?.address);
      await arrange([{}, { address, status: 'pending' }]);
      expect(servers()).toEqual([
        { address: expect.any(String), status: 'running' },
        { address, status: 'pending' },
      ]);
      expect((await arrange([{ address: 'elsewhere:8000' }])).status).toBe(400);
    },
    setPassword: async () => {
      const { simulator } = await act('setPassword', { clusterID: 'orders', username: 'app', password: 'x' });
      expect(simulator.passwordIs('orders', 'app', 'x')).toBe(true);
    },
    deleteUser: async () => {
      expect((await act('deleteUser', { clusterID: 'orders', username: 'admin' })).after?.users).toEqual([]);
    },
    createDatabase: async () => {
      const { after } = await act('createDatabase', { clusterID: 'orders', databaseName: 'main' });
      expect(after?.databases).toMatchObject([{ name: 'main' }]);
    },
    dropDatabase: async () => {
      const { simulator, send } = bench();
      simulator.createDatabase('orders', 'main');
      await send('POST', `${ROOT}/act/dropDatabase`, { body: { clusterID: 'orders', databaseName: 'main' } });
      expect(clusterNamed(simulator, 'orders')?.databases).toEqual([]);
    },
    setPaymentMethod: async () => {
      const { simulator } = await act('setPaymentMethod', { teamID: 'acme', valid: false });
      expect(simulator.inspect().teams[0]?.paymentMethod).toBe(false);
    },
    endAccessTokens: async () => {
      const { send, token } = bench();
      const admin = await token('admin');
      await send('POST', `${ROOT}/act/endAccessTokens`, { body: {} });
      expect((await send('GET', CLUSTERS, { token: admin })).status).toBe(401);
    },
  };

  it.each(ACT_NAMES)('%s', async (name) => {
    expect(acts[name]).toBeDefined();
    await acts[name]?.();
  });
});

describe('the page', () => {
  it('shows clusters, servers, users, databases and requests, and runs nothing foreign', async () => {
    const { send, simulator, token } = bench();
    simulator.createDatabase('orders', 'main');
    simulator.setPassword('orders', 'app', 'x');
    await send('GET', CLUSTERS, { token: await token('admin') });
    const page = await send('GET', '/');
    for (const text of [
      'orders',
      addressOf(simulator, 'orders'),
      'app',
      'main',
      'factory password',
      `GET ${CLUSTERS}`,
    ]) {
      expect(page.text).toContain(text);
    }
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(page.text).not.toContain('read-secret');
    expect((await send('GET', '/_simulator/page/style.css')).headers['content-type']).toMatch(/^text\/css/);
    expect((await send('GET', '/_simulator/page/script.js')).headers['content-type']).toMatch(/^text\/javascript/);
  });

  it('shows hostile names as text', async () => {
    const { send, simulator, token } = bench();
    const hostile = '<img src=x onerror=alert(1)>"\'&';
    simulator.createDatabase('orders', hostile);
    await send('GET', `${CLUSTERS}/${encodeURIComponent(hostile)}`, { token: await token('admin') });
    simulator.faults.add({ effect: '5xx', match: { clusterID: hostile } });
    const { text } = await send('GET', `/?filter=${encodeURIComponent('"><script>')}`);
    expect(text).not.toContain('<img');
    expect(text).not.toContain('"><script>');
    expect((await send('GET', '/')).text).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
  });

  it('shows the first clusters of many, and others by a part of their id', async () => {
    const { send, simulator } = bench();
    for (let number = 0; number < 300; number++) simulator.deployForeign({ id: `many-${number}` });
    const page = (await send('GET', '/')).text;
    expect(page).toContain('<b>many-198</b>');
    expect(page).not.toContain('<b>many-199</b>');
    expect(page).toContain('and 101 more clusters');
    expect((await send('GET', '/_simulator/page/main.html?filter=many-29')).text).toContain('<b>many-299</b>');
  });
});
