import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../test/support/clock.ts';
import {
  addressOf,
  CLUSTERS,
  cloudBench,
  clusterNamed,
  DEPLOY,
  sender,
  serverBench,
} from '../../test/support/simulator.ts';
import { parseState } from './saved-state.ts';
import { keepStateFile, loadStateFile } from './state-file.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const failed = (error: unknown) => {
  throw error;
};

describe('a saved state', () => {
  it('brings back clusters, users, databases and data, but no tokens', async () => {
    const { simulator, query, token } = await serverBench();
    await query(
      'schema',
      'define attribute name, value string; entity person, owns name @key; fun f() -> integer: match $p isa person; return first 1;',
    );
    await query('write', 'insert $p isa person, has name "Eve";');
    simulator.setPassword('orders', 'app', 'app-password');
    simulator.setPaymentMethod('acme', false);
    const restored = cloudBench({ state: parseState(JSON.stringify(simulator.save())) }).simulator;

    const { servers: _, liveTokens: __, ...before } = clusterNamed(simulator, 'orders') ?? {};
    expect(clusterNamed(restored, 'orders')).toMatchObject(JSON.parse(JSON.stringify(before)));
    expect(restored.inspect().teams[0]?.paymentMethod).toBe(false);
    expect(restored.passwordIs('orders', 'app', 'app-password')).toBe(true);
    const send = sender(restored.transport, `https://${addressOf(restored, 'orders')}`);
    expect((await send('GET', '/v1/databases', { token })).status).toBe(401);
    const signedIn = await send('POST', '/v1/signin', { body: { username: 'admin', password: 'password' } });
    const body = { databaseName: 'main', transactionType: 'read', query: 'match $p isa person, has name $n;' };
    const answer = await send('POST', '/v1/query', { token: String(signedIn.json()['token']), body });
    expect(answer.text).toContain('"Eve"');
  });

  it('continues what was in progress', async () => {
    const clock = manualClock();
    const { simulator, send, token } = cloudBench({ knobs: { provisionMs: [1000, 1000] } }, clock);
    await send('POST', `${CLUSTERS}/deploy`, { token: await token('admin'), body: DEPLOY });
    const restored = cloudBench({ state: parseState(JSON.stringify(simulator.save())) }, clock).simulator;
    expect(clusterNamed(restored, 'orders')?.status).toBe('starting');
    clock.advance(1000);
    expect(clusterNamed(restored, 'orders')).toMatchObject({ status: 'running', servers: [{ status: 'running' }] });
  });

  it('never gives createdAt twice, even over a restart', async () => {
    const { simulator } = cloudBench();
    simulator.deployForeign({ id: 'a' });
    const { createdAt } = clusterNamed(simulator, 'a') ?? {};
    const restored = cloudBench({ state: simulator.save() }, manualClock(0)).simulator;
    restored.deployForeign({ id: 'b' });
    expect(clusterNamed(restored, 'b')?.createdAt).toBe((createdAt ?? 0) + 1);
  });

  it('gives nobody an address that a cluster after it had', () => {
    const { simulator } = cloudBench();
    simulator.deployForeign({ id: 'a' });
    simulator.deployForeign({ id: 'b' });
    const saved = simulator.save();
    const [first, second] = saved.clusters;
    if (first === undefined || second === undefined) throw new Error('Two clusters were deployed');
    // Both would be the first to get an address.
    const state = { ...saved, clusters: [{ ...second, servers: [] }, first] };
    const restored = cloudBench({ state }).simulator;
    expect(addressOf(restored, 'a')).toBe(first.servers[0]?.address);
    expect(addressOf(restored, 'b')).not.toBe(first.servers[0]?.address);
  });

  it('leaves out clusters of spaces that no longer exist', () => {
    const { simulator } = cloudBench();
    simulator.deployForeign({ id: 'orders' });
    const restored = cloudBench({ state: simulator.save(), teams: [] }).simulator;
    expect(restored.inspect().teams).toEqual([]);
  });

  it('holds no password', async () => {
    const { simulator } = cloudBench();
    simulator.deployForeign({ id: 'orders' });
    simulator.setPassword('orders', 'app', 'app-password');
    const text = JSON.stringify(simulator.save());
    for (const secret of ['app-password', '"password"', 'admin-secret']) expect(text).not.toContain(secret);
  });

  it.each([
    ['{', 'is not JSON'],
    ['{}', 'is invalid at format'],
    ['[]', 'is invalid at its top'],
    ['{"format":"mooring-simulator-1","lastCreatedAt":0,"teams":[],"clusters":[{}]}', 'is invalid at clusters.0'],
  ])('%s is refused', (text, message) => {
    expect(() => parseState(text)).toThrow(message);
  });
});

describe('a state file', () => {
  it('is written soon after a change, as a whole, for its owner only', async () => {
    const path = join(folder, 'state.json');
    expect(await loadStateFile(path)).toBeUndefined();
    const { simulator, clock } = cloudBench();
    const file = keepStateFile(simulator, path, failed);
    simulator.deployForeign({ id: 'orders' });
    clock.advance(500);
    await file.close();
    expect((await loadStateFile(path))?.clusters.map(({ id }) => id)).toEqual(['orders']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['state.json']);
  });

  it('is refused if its folder does not exist', async () => {
    await expect(loadStateFile(join(folder, 'mistyped', 'state.json'))).rejects.toThrow('ENOENT');
  });

  it('is written at the end, even if no time passed since the last change', async () => {
    const path = join(folder, 'state.json');
    const { simulator } = cloudBench();
    const file = keepStateFile(simulator, path, failed);
    simulator.deployForeign({ id: 'orders' });
    await file.close();
    expect(await readFile(path, 'utf8')).toContain('orders');
  });

  it('is written for changes on servers too', async () => {
    const path = join(folder, 'state.json');
    const { simulator, send, token } = await serverBench();
    const file = keepStateFile(simulator, path, failed);
    await send('POST', '/v1/databases/fresh', { token });
    await file.close();
    expect(await readFile(path, 'utf8')).toContain('fresh');
  });

  it('that cannot be written is reported, not thrown', async () => {
    const errors: unknown[] = [];
    const { simulator } = cloudBench();
    await writeFile(join(folder, 'file'), '');
    const file = keepStateFile(simulator, join(folder, 'file', 'state.json'), (error) => errors.push(error));
    await file.close();
    expect(errors).toHaveLength(1);
  });

  it('that is damaged is not treated as an empty one', async () => {
    const path = join(folder, 'state.json');
    await writeFile(path, '{"format":');
    await expect(loadStateFile(path)).rejects.toThrow(`${path} cannot be used: The state is not JSON. Move it away`);
    await expect(loadStateFile(folder)).rejects.toThrow('EISDIR');
  });
});
