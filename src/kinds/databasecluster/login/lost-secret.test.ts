import { expect, it } from 'vitest';
import { kindBench } from '../../../../test/support/kind-bench.ts';
import { type AnyObject, SECRETS } from '../../../kube/api.ts';

it.each([
  ['', {}],
  [', also one that it is to move from', { adminCredentials: { secretName: 'orders-root' } }],
])(
  'A suspended DatabaseCluster reports that its admin Secret is gone, and stops once that is back%s',
  async (_what, change) => {
    const bench = await kindBench({ spec: { state: 'Suspended' } });
    const condition = (type: string) => bench.status().conditions?.find((candidate) => candidate.type === type);
    await bench.until('True Suspended');
    await bench.edit(change);
    await bench.pass();
    const { metadata, ...rest } = bench.kube.all(SECRETS).find((secret) => secret.metadata.name === 'orders-admin') ?? {
      metadata: {},
    };
    const { uid: _, resourceVersion: __, ...kept } = metadata;
    bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
    await bench.pass();
    expect(condition('CredentialsSecured')).toMatchObject({ status: 'Unknown', reason: 'AdminLoginLost' });
    expect(condition('Ready')).toMatchObject({
      status: 'True',
      message:
        'Cluster "orders" is suspended, as the spec says; but Secret "orders-admin" with its login is gone: restore it before the cluster runs again',
    });
    await bench.kube.create(SECRETS, 'shop', { ...rest, metadata: kept } as AnyObject);
    await bench.pass();
    expect(condition('CredentialsSecured')).toMatchObject({ status: 'True', reason: 'FactoryLoginRetired' });
    expect(condition('Ready')?.message).not.toContain('gone');
  },
);

it('Of a login that was to move, the message names the Secret that had it, which is the one to restore', async () => {
  const bench = await kindBench({ spec: { state: 'Suspended' } });
  await bench.until('True Suspended');
  const before = bench.secret() ?? {};
  await bench.edit({ adminCredentials: { secretName: 'orders-root' } });
  bench.kube.remove(SECRETS, { namespace: 'shop', name: 'orders-admin' });
  await bench.restart();
  await bench.edit({ state: 'Running' });
  await bench.until('False AdminLoginLost');
  expect(bench.status().conditions?.find(({ type }) => type === 'Ready')?.message).toMatch(
    /^Secret "orders-admin", from which the login was to move to "orders-root", is gone or holds no login that works, and nobody else knows the password. Restore it, with keys /,
  );
  await bench.putSecret('orders-admin', before, {
    'mooring.dev/cluster': 'orders',
    'app.kubernetes.io/managed-by': 'mooring',
  });
  await bench.until('True Running');
  expect(bench.secret('orders-root')).toBeDefined();
});
