import { describe, expect, it } from 'vitest';
import { readyUserBench, type UserBench } from '../../../test/support/user-bench.ts';

/* What docs/guides/disaster-recovery.md says of a cluster that was restored from a backup, with everything on it. */

async function restored(bench: UserBench, logins: { readonly admin?: string; readonly app: string }): Promise<void> {
  const { cluster } = bench;
  const admin = logins.admin ?? cluster.secret()?.['password'] ?? '';
  cluster.simulator.replaceCluster('orders');
  cluster.simulator.setPassword('orders', 'admin', admin);
  cluster.simulator.setPassword('orders', 'app', logins.app);
  await cluster.until('False IdentityChanged');
  const { message = '' } = cluster.status().conditions?.find(({ type }) => type === 'Ready') ?? {};
  await cluster.annotate('mooring.dev/accept-identity', /accept-identity=(\S+)/.exec(message)?.[1] ?? '');
}

describe('On a cluster that was restored and accepted', () => {
  it('a user that has the password of its Secret goes on', async () => {
    const bench = await readyUserBench();
    const { password = '' } = bench.secret() ?? {};
    await restored(bench, { app: password });
    await bench.cluster.until('True Running');
    bench.takeCalls();
    await bench.until('True LoginWorks');
    expect(bench.secret()).toMatchObject({ password });
    expect(bench.takeCalls()).not.toContain('updateUser');
  });

  it('a user whose password was replaced since the backup is left alone until IfExists takes it over', async () => {
    const bench = await readyUserBench();
    await restored(bench, { app: 'of the backup' });
    await bench.cluster.until('True Running');
    await bench.until('False UserExists');
    expect(bench.works('of the backup')).toBe(true);
    await bench.edit({ adoptionPolicy: 'IfExists' });
    await bench.until('True LoginWorks');
    expect(bench.works(bench.secret()?.['password'])).toBe(true);
  });

  it('a user that IfExists takes over keeps its password if a server refuses it only once', async () => {
    const bench = await readyUserBench();
    await bench.edit({ adoptionPolicy: 'IfExists' });
    await bench.until('True LoginWorks');
    const { password = '' } = bench.secret() ?? {};
    await restored(bench, { app: password });
    const match = { operation: 'signIn', username: 'app' } as const;
    bench.cluster.simulator.faults.add({ match, effect: 'errorBefore', status: 401, times: 1 });
    await bench.cluster.until('True Running');
    bench.takeCalls();
    await bench.until('Unknown SettingPassword');
    await bench.until('True LoginWorks');
    expect([bench.secret()?.['password'], bench.takeCalls().includes('updateUser')]).toEqual([password, false]);
  });

  it('the login of the cluster goes on from existingSecretRef if it was replaced since the backup', async () => {
    const bench = await readyUserBench();
    await restored(bench, { admin: 'admin of the backup', app: bench.secret()?.['password'] ?? '' });
    await bench.cluster.until('False AdminLoginRefused');
    await bench.putSecret('of-the-backup', { username: 'admin', password: 'admin of the backup' });
    await bench.cluster.edit({ adminCredentials: { existingSecretRef: { name: 'of-the-backup' } } });
    await bench.cluster.until('True Running');
    await bench.until('True LoginWorks');
    expect(bench.cluster.secret()?.['password']).not.toBe('admin of the backup');
  });
});
