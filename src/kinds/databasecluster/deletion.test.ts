import { describe, expect, it, vi } from 'vitest';
import { hideClusters as hide } from '../../../test/support/hidden.ts';
import { expectOneWorkingLogin, type KindBench, kindBench, runningBench } from '../../../test/support/kind-bench.ts';
import { clusterNamed } from '../../../test/support/simulator.ts';
import { PAUSED } from '../../kube/annotations.ts';
import { SECRETS } from '../../kube/api.ts';
import type { Dialect } from '../../simulator/dialect.ts';
import { DATABASE_CLUSTERS } from './resource.ts';

const PROVISION = { provisionMs: [20_000, 20_000] } as const;

const count = (bench: KindBench, call: string) => bench.calls.filter((other) => other === call).length;

describe('Deleting a DatabaseCluster', () => {
  const remove = (bench: KindBench) => bench.kube.remove(DATABASE_CLUSTERS, { namespace: 'shop', name: 'orders' });
  const isGone = (bench: KindBench) => bench.kube.all(DATABASE_CLUSTERS).length === 0;
  const goOn = async (bench: KindBench) => {
    for (let pass = 0; pass < 20 && !isGone(bench); pass++) {
      await bench.pass();
      await bench.clock.advance(5_000);
    }
  };

  /** Moves the servers, and expects the status to follow, and the login to be verified there. */
  const moved = async (bench: KindBench) => {
    const before = bench.status().endpoint;
    bench.simulator.moveServers('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await goOn(bench);
    const { endpoint, credentials, conditions = [] } = bench.status();
    expect(endpoint).not.toBe(before);
    expect(endpoint).toBe(`https://${clusterNamed(bench.simulator, 'orders')?.servers[0]?.address}`);
    expect(credentials?.endpoint).toBe(endpoint);
    return { endpoint, available: conditions.find(({ type }) => type === 'Available') };
  };

  it.each<Dialect>(['document', 'field'])('destroys it, and its Secret with it (%s)', async (dialect) => {
    const bench = await runningBench({
      dialect,
      spec: { deletionPolicy: 'Delete' },
      knobs: { destroyMs: [10_000, 10_000] },
    });
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(count(bench, 'destroy')).toBe(1);
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
    expect(bench.told.join()).not.toContain('left:');
  });

  it('says that the cluster is being destroyed if the answer to that is empty, and then goes without a warning', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [60_000, 60_000] } });
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const destroy = client.destroy.bind(client);
    vi.spyOn(client, 'destroy').mockImplementation(async (id, signal) => {
      await destroy(id, signal);
      return 'accepted';
    });
    remove(bench);
    await bench.pass();
    expect([poller.get('orders')?.status, bench.status().state]).toEqual(['destroying', 'destroying']);
    bench.simulator.vanish('orders');
    await poller.refresh();
    await bench.pass();
    expect([isGone(bench), count(bench, 'destroy')]).toEqual([true, 1]);
    expect(bench.told.filter((line) => !line.startsWith('Destroying'))).toEqual([]);
  });

  it('goes at once if the cluster ends before anybody looks, and tells nobody that it may be left', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [60_000, 60_000] } });
    remove(bench);
    await bench.pass();
    expect(count(bench, 'destroy')).toBe(1);
    bench.simulator.vanish('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    expect(isGone(bench)).toBe(true);
    expect(bench.told.join()).not.toContain('left:');
  });

  it('tells nobody that it may be left if somebody else destroyed it long before, and that was seen', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [60_000, 60_000] } });
    const { client, poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    await client.destroy('orders');
    await poller.refresh();
    await bench.until('Unknown Destroying');
    bench.simulator.vanish('orders');
    await poller.refresh();
    await bench.until('False ClusterMissing');
    // Nor is it said to be changing still.
    expect(bench.status().state).toBeUndefined();
    await bench.clock.advance(3_600_000);
    remove(bench);
    await bench.pass();
    expect(isGone(bench)).toBe(true);
    expect(bench.told.join()).not.toContain('left:');
  });

  it('waits if the cloud destroys no cluster that is changing state, and says so, as nobody needs to do anything', async () => {
    const bench = await kindBench({ spec: { deletionPolicy: 'Delete' }, knobs: PROVISION });
    while (clusterNamed(bench.simulator, 'orders') === undefined) await bench.pass();
    remove(bench);
    await bench.pass();
    await bench.pass();
    expect(count(bench, 'destroy')).toBeGreaterThan(0);
    expect(bench.ready()).toBe('Unknown Destroying');
    expect(bench.told.at(-1)).toMatch(/is starting, and the cloud does not destroy it yet.*If this persists,/);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
  });

  it('tries again soon if the cloud says that a cluster that runs is busy (409), as nobody needs to do anything', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    bench.simulator.faults.add({ match: { operation: 'destroy' }, effect: 'errorBefore', status: 409, times: 1 });
    remove(bench);
    expect(await bench.pass()).toMatchObject({ next: 'failed', failure: { lasting: 'transient' } });
    expect(bench.ready()).toBe('Unknown Destroying');
    expect(bench.told.at(-1)).toMatch(/^Destroying: .*\(HTTP 409.*\. The cluster may be busy with something else/);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
  });

  it('tells that it leaves the login that new clusters come with, and retires it if it is done as it says', async () => {
    const bench = await kindBench({ knobs: PROVISION });
    while (clusterNamed(bench.simulator, 'orders') === undefined) await bench.pass();
    const [{ apiVersion, kind, spec } = expect.unreachable()] = bench.kube.all(DATABASE_CLUSTERS);
    remove(bench);
    await goOn(bench);
    expect(bench.told.at(-1)).toMatch(
      /^left: Cluster "orders" .*adoptionPolicy: MustExist, and delete it once it is Ready$/,
    );
    const again = { ...(spec as object), adoptionPolicy: 'MustExist' };
    await bench.kube.create(DATABASE_CLUSTERS, 'shop', { apiVersion, kind, metadata: { name: 'orders' }, spec: again });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
    const last = bench.told.at(-1);
    remove(bench);
    await goOn(bench);
    expect([isGone(bench), bench.told.at(-1)]).toEqual([true, last]);
  });

  it('keeps the login of a cluster that was restored, and tells that it stays; what it says makes it Ready again', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    const { username = '', password = '' } = bench.secret() ?? {};
    bench.simulator.replaceCluster('orders');
    bench.simulator.setPassword('orders', username, password);
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.until('False IdentityChanged');
    const [{ apiVersion, kind, spec } = expect.unreachable()] = bench.kube.all(DATABASE_CLUSTERS);
    remove(bench);
    await goOn(bench);
    expect([isGone(bench), count(bench, 'destroy'), bench.secret()?.['password']]).toEqual([true, 0, password]);
    expect(bench.told.at(-1)).toMatch(
      /^left: Cluster "orders" .* restored it\. Secret "orders-admin" is kept, .*adoptionPolicy: MustExist/,
    );
    const again = { ...(spec as object), adoptionPolicy: 'MustExist' };
    await bench.kube.create(DATABASE_CLUSTERS, 'shop', { apiVersion, kind, metadata: { name: 'orders' }, spec: again });
    await bench.until('True Running');
    expectOneWorkingLogin(bench);
  });

  it('says what to do if the cloud does not let it destroy the cluster', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    bench.simulator.faults.add({ match: { operation: 'destroy' }, effect: 'errorBefore', status: 403 });
    remove(bench);
    while (bench.ready() !== 'False DeletionBlocked') await bench.pass();
    expect(bench.told.at(-1)).toMatch(
      /API token of level admin\. To remove only this object, annotate mooring\.dev\/abandon=true/,
    );
  });

  it('says within seconds that it goes if the cloud does not answer, and writes nothing for that if it does', async () => {
    const hung = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    hung.simulator.faults.add({ match: { api: 'cloud' }, effect: 'hang' });
    remove(hung);
    const first = hung.pass();
    await hung.clock.advance(6_000);
    expect(hung.ready()).toBe('Unknown Deleting');
    await hung.clock.advance(60_000);
    expect(await first).toMatchObject({ next: 'failed' });
    const quick = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    remove(quick);
    await quick.until('Unknown Destroying');
    expect([hung.told, quick.told].map((told) => told.map((line) => line.split(':')[0]))).toEqual([
      ['Deleting', 'CloudUnreachable'],
      ['Destroying'],
    ]);
  });

  it('destroys it under its new id when the answer to renaming it was lost', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    bench.simulator.faults.add({ match: { operation: 'update' }, effect: 'lostAnswer', times: 1 });
    await bench.edit({ clusterID: 'orders-eu' });
    await bench.pass();
    expect(clusterNamed(bench.simulator, 'orders-eu')).toBeDefined();
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(clusterNamed(bench.simulator, 'orders-eu')).toBeUndefined();
    expect(bench.secret()).toBeUndefined();
  });

  it('destroys no cluster that took its place since the last look', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    bench.simulator.replaceCluster('orders');
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(count(bench, 'destroy')).toBe(0);
    expect(clusterNamed(bench.simulator, 'orders')).toBeDefined();
  });

  it('waits for a cluster that appears after the look', async () => {
    const bench = await kindBench({ spec: { deletionPolicy: 'Delete' } });
    const { faults } = bench.simulator;
    faults.add({ match: { operation: 'deploy' }, effect: 'lostAnswer', times: 1 });
    faults.add({ match: { operation: 'get' }, effect: 'errorBefore', status: 404, times: 3 });
    await bench.pass();
    await bench.pass();
    remove(bench);
    for (let pass = 0; pass < 3; pass++) await bench.pass();
    expect(isGone(bench)).toBe(false);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(clusterNamed(bench.simulator, 'orders')).toBeUndefined();
  });

  it.each([
    ['Delete', undefined],
    ['Suspend', 'suspended'],
  ] as const)('looks for a cluster that does not show for a moment (%s)', async (deletionPolicy, left) => {
    const bench = await runningBench({ spec: { deletionPolicy } });
    const show = await hide(bench);
    remove(bench);
    await bench.pass();
    await bench.clock.advance(5_000);
    await bench.pass();
    expect(isGone(bench)).toBe(false);
    expect(bench.ready()).toBe('Unknown NotFound');
    expect(bench.told.at(-1)).toMatch(
      /not been seen in .*by 2.*Z, it is treated as gone, and this object is removed.*abandon/,
    );
    await show();
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    await bench.clock.advance(60_000);
    expect(clusterNamed(bench.simulator, 'orders')?.status).toBe(left);
  });

  it('goes after twenty seconds without a cluster, and at once if it was reported as gone before', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    await hide(bench);
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(bench.told.at(-1)).toMatch(
      /^left: Cluster "orders" in .* was to be destroyed with this object, but the cloud does not show it: .* does nothing more about it\. .*console$/,
    );
    const told = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    await hide(told);
    await told.until('False ClusterMissing');
    remove(told);
    await told.pass();
    expect(isGone(told)).toBe(true);
  });

  it('goes as soon as the cluster that it has destroyed is gone', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' }, knobs: { destroyMs: [60_000, 60_000] } });
    remove(bench);
    await bench.until('Unknown Destroying');
    bench.simulator.vanish('orders');
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await bench.pass();
    expect(isGone(bench)).toBe(true);
  });

  it('deletes no Secret that is not its own', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    await bench.putSecret('orders-admin', { key: 'value' });
    remove(bench);
    await goOn(bench);
    expect(isGone(bench)).toBe(true);
    expect(bench.secret()).toEqual({ key: 'value' });
  });

  it.each(['Delete', 'Suspend', 'Retain'] as const)(
    'goes on looking after a cluster that is protected, for the users on it (%s)',
    async (deletionPolicy) => {
      const bench = await runningBench({ spec: { deletionPolicy, deletionProtection: true } });
      const { poller } = bench.world().connections.get('shop/production') ?? expect.unreachable();
      remove(bench);
      await goOn(bench);
      const synced = () => bench.status().conditions?.find(({ type }) => type === 'Synced');
      expect([bench.ready(), synced()?.reason]).toEqual(['False DeletionProtected', 'AsSpecified']);
      const { endpoint, available } = await moved(bench);
      expect(available?.message).toContain(endpoint);
      bench.simulator.changeCluster('orders', { storageSizeGB: 500 });
      await poller.refresh();
      await goOn(bench);
      expect([bench.ready(), synced()?.status]).toEqual(['False DeletionProtected', 'False']);
      for (const call of ['destroy', 'suspend', 'update']) expect(count(bench, call)).toBe(0);
    },
  );

  it('goes on looking after a cluster that cannot be destroyed for lack of a token, for the users on it', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const canDestroy = vi.spyOn(client, 'canDestroy', 'get').mockReturnValue(false);
    const before = bench.status().endpoint;
    remove(bench);
    await goOn(bench);
    expect([bench.ready(), bench.status().endpoint]).toEqual(['False DeletionBlocked', before]);
    await moved(bench);
    expect(bench.ready()).toBe('False DeletionBlocked');
    canDestroy.mockRestore();
    await goOn(bench);
    expect([isGone(bench), count(bench, 'destroy')]).toEqual([true, 1]);
  });

  it('goes on looking after a cluster that cannot be destroyed as the token is refused, and destroys it when it is accepted', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    const before = bench.status().endpoint;
    const refused = bench.simulator.faults.add({
      match: { operation: 'exchangeToken' },
      effect: 'errorBefore',
      status: 400,
    });
    remove(bench);
    await goOn(bench);
    expect([bench.ready(), bench.status().endpoint]).toEqual(['False DeletionBlocked', before]);
    const told = bench.told.filter((line) => line.startsWith('DeletionBlocked'));
    expect(told).toEqual([
      expect.stringMatching(/^DeletionBlocked: Cluster "orders" cannot be destroyed: .*refused.*, in the Secret/),
    ]);
    bench.simulator.faults.remove(refused);
    client.forgetRefusals();
    await client.authenticate();
    await goOn(bench);
    expect([isGone(bench), count(bench, 'destroy')]).toEqual([true, 1]);
  });

  it('goes on saying that a cluster is protected while its server refuses a new password', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete', deletionProtection: true } });
    await bench.annotate('mooring.dev/rotate-at', '1');
    const refused = { match: { operation: 'updateUser' }, effect: 'errorBefore', status: 400 } as const;
    bench.simulator.faults.add(refused);
    remove(bench);
    await goOn(bench);
    expect(count(bench, 'server updateUser')).toBeGreaterThan(1);
    expect(bench.told.map((line) => line.split(':')[0])).toEqual(['DeletionProtected']);
    expect(bench.status().lastError?.operation).toBe('updateUser');
  });

  it('goes on saying that a cluster is protected while a look at the cloud fails, and what failed', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete', deletionProtection: true } });
    remove(bench);
    await goOn(bench);
    bench.simulator.vanish('orders');
    const fault = bench.simulator.faults.add({ match: { operation: 'get' }, effect: 'errorBefore' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await goOn(bench);
    expect(bench.ready()).toBe('False DeletionProtected');
    expect(bench.told.map((line) => line.split(':')[0])).toEqual(['DeletionProtected']);
    expect(bench.status().lastError?.operation).toBe('get');
    bench.simulator.faults.remove(fault);
    await goOn(bench);
    expect([bench.ready(), bench.status().lastError]).toEqual(['False DeletionProtected', undefined]);
  });

  it('does not end a cluster that somebody has renamed while it was protected', async () => {
    const bench = await kindBench({ spec: { deletionPolicy: 'Delete', deletionProtection: true } });
    // Its creation time tells it from any other.
    await bench.clock.advance(123);
    await bench.until('True Running');
    remove(bench);
    bench.simulator.changeCluster('orders', { id: 'spared' });
    await bench.world().connections.get('shop/production')?.poller.refresh();
    await goOn(bench);
    expect([bench.ready(), bench.status().clusterID]).toEqual(['False DeletionProtected', 'orders']);
    await bench.edit({ deletionProtection: false });
    await goOn(bench);
    expect([bench.ready(), count(bench, 'destroy')]).toEqual(['False DeletionBlocked', 0]);
  });

  it('says that a cluster is protected, and uses its server as before, when its Secret went with the namespace', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete', deletionProtection: true } });
    const before = bench.status();
    bench.kube.terminate('shop');
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    remove(bench);
    bench.forgetCalls();
    await goOn(bench);
    expect(bench.ready()).toBe('False DeletionProtected');
    expect(bench.told.map((line) => line.split(':')[0])).toEqual(['DeletionProtected']);
    expect(count(bench, 'server signIn')).toBeLessThan(10);
    // Users that are deleted with the namespace need the session that is still held.
    for (const type of ['Available', 'CredentialsSecured'])
      expect(bench.status().conditions?.find((each) => each.type === type)?.status).toBe('True');
    expect(bench.status().endpoint).toBe(before.endpoint);
  });

  it('says what is in the way of a cluster that is paused, too', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    const { client } = bench.world().connections.get('shop/production') ?? expect.unreachable();
    vi.spyOn(client, 'canDestroy', 'get').mockReturnValue(false);
    await bench.annotate(PAUSED, 'true');
    remove(bench);
    await goOn(bench);
    expect(bench.ready()).toBe('False DeletionBlocked');
  });

  it.each(['Delete', 'Suspend', 'Retain'] as const)(
    'goes on looking after a cluster that is paused, for the users on it (%s)',
    async (deletionPolicy) => {
      const bench = await runningBench({ spec: { deletionPolicy } });
      await bench.annotate(PAUSED, 'true');
      remove(bench);
      await goOn(bench);
      expect(bench.ready()).toBe('Unknown Paused');
      expect(bench.status().endpoint).toBe(bench.status().credentials?.endpoint);
      const { endpoint, available } = await moved(bench);
      expect(available).toMatchObject({ status: 'True', message: expect.stringContaining(endpoint ?? '') });
      for (const call of ['destroy', 'suspend']) expect(count(bench, call)).toBe(0);
      await bench.annotate(PAUSED, 'false');
      await goOn(bench);
      expect(isGone(bench)).toBe(true);
    },
  );

  it('destroys nothing if the object changed meanwhile', async () => {
    const bench = await runningBench({ spec: { deletionPolicy: 'Delete' } });
    remove(bench);
    bench.showAsNow();
    await bench.edit({ deletionProtection: true });
    expect((await bench.pass()).next).toBe('conflict');
    bench.showAsIs();
    await bench.pass();
    expect(bench.ready()).toBe('False DeletionProtected');
    expect(count(bench, 'destroy')).toBe(0);
  });
});
