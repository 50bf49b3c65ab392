import { describe, expect, it } from 'vitest';
import { type KindBench, runningBench } from '../../../test/support/kind-bench.ts';
import type { TransientError } from '../../base/errors.ts';
import { ApiError } from '../../http/api-error.ts';
import { SECRETS } from '../../kube/api.ts';
import { type ServerPlace, Servers } from './servers.ts';

const { signal } = new AbortController();

/** The server of a cluster that runs, as a new process finds it. */
async function aServer() {
  const bench = await runningBench();
  await bench.restart();
  bench.forgetCalls();
  const refused: string[] = [];
  const { clock, secrets } = bench.world();
  const servers = new Servers({ clock, secrets, onLoginRefused: (key) => refused.push(key) });
  const calls = () => bench.calls.map((call) => call.replace('server ', ''));
  return { bench, servers, refused, calls, place: placeOf(bench) };
}

function placeOf(bench: KindBench): ServerPlace {
  const connection = bench.world().connections.get('shop/production');
  const { endpoint = '' } = bench.status();
  if (connection === undefined) throw new Error('The space is not connected');
  return {
    clusterKey: 'shop/orders',
    leaving: false,
    adminSecretName: 'orders-admin',
    factoryUsername: 'admin',
    logins: connection.logins(endpoint, 'orders'),
  };
}

const createDatabase = (servers: Servers, place: ServerPlace, name: string) =>
  servers.asAdmin(place, (client, token) => client.createDatabase(token, name), signal);

describe('Servers', () => {
  it('signs in once for everything that is asked of a server, and lists once for everybody who asks', async () => {
    const { servers, place, calls } = await aServer();
    const found = await Promise.all([
      servers.hasUser(place, 'admin', signal),
      servers.hasUser(place, 'app', signal),
      servers.hasDatabase(place, 'orders', signal),
    ]);
    expect(found).toEqual([true, false, false]);
    expect(calls().toSorted()).toEqual(['listDatabases', 'listUsers', 'signIn']);
  });

  it('has our own changes in its lists', async () => {
    const { servers, place, calls } = await aServer();
    await servers.hasDatabase(place, 'orders', signal);
    await createDatabase(servers, place, 'orders');
    servers.databaseChanged(place, 'orders', true);
    servers.userChanged(place, 'app', true);
    expect(await servers.hasDatabase(place, 'orders', signal)).toBe(true);
    expect(calls().filter((call) => call === 'listDatabases')).toHaveLength(1);
  });

  it('has in its lists what a look for one user finds', async () => {
    const { bench, servers, place, calls } = await aServer();
    expect(await servers.hasUser(place, 'app', signal)).toBe(false);
    bench.simulator.setPassword('orders', 'app', 'any');
    await servers.user(place, 'app', signal);
    expect(await servers.hasUser(place, 'app', signal)).toBe(true);
    expect(calls().filter((call) => call === 'listUsers')).toHaveLength(1);
  });

  it('finds a name that is not composed, even if the lists show it composed', async () => {
    const { bench, servers, place } = await aServer();
    const name = 'Jose\u0301';
    bench.simulator.setPassword('orders', name, 'any');
    await createDatabase(servers, place, name);
    const isListed = () =>
      Promise.all([
        servers.hasUser(place, name, signal),
        servers.hasDatabase(place, name, signal),
        servers.listsUser(place, name, signal),
        servers.listsDatabase(place, name, signal),
      ]);
    expect(await isListed()).toEqual([true, true, true, true]);
    servers.userChanged(place, name, false);
    expect(await servers.hasUser(place, name, signal)).toBe(false);
  });

  it('treats the factory user and the user of the admin Secret as reserved', async () => {
    const { bench, servers, place } = await aServer();
    const { password = '' } = bench.secret() ?? {};
    bench.simulator.setPassword('orders', 'operator', password);
    await bench.putSecret('orders-admin', { username: 'operator', password });
    const reserved = (name: string) => servers.isReserved(place, name, signal);
    expect([await reserved('admin'), await reserved('operator'), await reserved('app')]).toEqual([true, true, false]);
  });

  it('treats the user that the admin Secret names now as reserved, even if the session of the one before goes on', async () => {
    const { bench, servers, place } = await aServer();
    const reserved = (name: string) => servers.isReserved({ ...place, factoryUsername: 'root' }, name, signal);
    const decomposed = { ...place, factoryUsername: 'rene\u0301' };
    expect(await servers.isReserved(decomposed, 'ren\u00e9', signal)).toBe(true);
    expect([await reserved('admin'), await reserved('operator')]).toEqual([true, false]);
    bench.simulator.setPassword('orders', 'operator', 'a-password-of-its-own');
    await bench.putSecret('orders-admin', { username: 'operator', password: 'a-password-of-its-own' });
    // Anybody who works as the one before should not lose it either.
    expect([await reserved('admin'), await reserved('operator'), await reserved('app')]).toEqual([true, true, false]);
  });

  it('goes on with the new password when the cluster replaces it, whichever of the two in the Secret works', async () => {
    const { bench, servers, refused, place } = await aServer();
    await createDatabase(servers, place, 'first');
    const { username = '', password = '' } = bench.secret() ?? {};
    bench.simulator.setPassword('orders', 'admin', 'the-coming-password');
    await bench.putSecret('orders-admin', { username, password, nextPassword: 'the-coming-password' });
    await createDatabase(servers, place, 'second');
    expect(bench.simulator.inspect().teams[0]?.spaces[0]?.clusters[0]?.databases).toHaveLength(2);
    expect(refused).toEqual([]);
  });

  it('has the cluster look when the published login is refused, and says so', async () => {
    const { bench, servers, refused, place } = await aServer();
    await createDatabase(servers, place, 'first');
    bench.simulator.setPassword('orders', 'admin', 'changed-elsewhere');
    const error = await createDatabase(servers, place, 'second').catch((thrown: TransientError) => thrown);
    expect(error).toMatchObject({ reason: 'ClusterLoginRefused', message: expect.stringContaining('"orders-admin"') });
    expect(refused).toContain('shop/orders');
  });

  it('goes on with a session that it holds when the admin Secret is lost, and otherwise says that it is', async () => {
    const { bench, servers, refused, place } = await aServer();
    await createDatabase(servers, place, 'first');
    bench.kube.remove(
      { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' },
      { namespace: 'shop', name: 'orders-admin' },
    );
    await createDatabase(servers, place, 'second');
    expect(refused).toEqual([]);
    const { clock, secrets } = bench.world();
    const newcomer = new Servers({ clock, secrets, onLoginRefused: (key) => refused.push(key) });
    await bench.restart();
    const error = await createDatabase(newcomer, placeOf(bench), 'third').catch((thrown: TransientError) => thrown);
    expect(error).toMatchObject({ reason: 'ClusterLoginLost' });
    expect(refused).toEqual(['shop/orders']);
  });

  it.each(['refused', 'lost'])('does not wait for a cluster that is being deleted if its login is %s', async (how) => {
    const { bench, servers, place } = await aServer();
    if (how === 'refused') bench.simulator.setPassword('orders', 'admin', 'nobody-knows');
    else bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    const error = await createDatabase(servers, { ...place, leaving: true }, 'first').catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ message: expect.stringContaining('mooring.dev/abandon=true') });
    expect(error).toMatchObject({
      message: expect.not.stringMatching(/conditions of that cluster|checks the login/),
    });
  });

  it('passes on what the server says about the work itself', async () => {
    const { servers, refused, place } = await aServer();
    const failing = servers.asAdmin(place, (client, token) => client.updateUser(token, 'nobody', 'x'), signal);
    await expect(failing).rejects.toSatisfy((error) => error instanceof ApiError && error.kind === 'notFound');
    expect(refused).toEqual([]);
  });

  it('tries a login, and keeps nothing of it', async () => {
    const { bench, servers, place, calls } = await aServer();
    bench.simulator.setPassword('orders', 'app', 'right');
    const attempt = (password: string) => servers.signIn(place, { username: 'app', password }, signal);
    expect([await attempt('right'), await attempt('wrong'), await attempt('right')]).toEqual([
      'accepted',
      'refused',
      'accepted',
    ]);
    expect(calls()).toEqual(['signIn', 'signIn', 'signIn']);
    expect(place.logins.heldBy('app')).toBeUndefined();
  });
});
