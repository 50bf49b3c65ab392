import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mustKubectl, waitUntil } from '../support/control-plane.ts';
import { type Desk, type KubectlBench, startKubectlBench } from '../support/kubectl-bench.ts';
import { secret } from '../support/manifests.ts';

/* Where clusters come from, and with whose login. By kubectl, with operator and simulated cloud as processes. */

let bench: KubectlBench;

beforeAll(async () => {
  bench = await startKubectlBench(18);
});

afterAll(() => bench?.close());

const LIKE_SPEC = { machineType: 'c2d-highcpu-4', storageSizeGB: 100, version: '3.12.0' } as const;
const CLONE = {
  provider: undefined,
  region: undefined,
  version: undefined,
  machineType: undefined,
  storageSizeGB: undefined,
};

/** Creates a cluster of somebody else in this desk's space. */
const foreign = ({ cloud, spaceID }: Desk, clusterID: string) =>
  cloud.act('deployForeign', { id: clusterID, spaceID, ...LIKE_SPEC });

/** Expects that the login in the Secret works at the cluster, and that neither the factory login nor any of these does. */
async function isSecured(desk: Desk, name = desk.id, dead: readonly string[] = []): Promise<string> {
  const { status } = await desk.ready(name);
  const { username = '', password = '', ...rest } = (await desk.secret(`${name}-admin`))?.data ?? {};
  expect(rest).toEqual({});
  const { cloud } = desk;
  expect(await cloud.signIn(status?.endpoint ?? '', username, password)).toBe(200);
  for (const other of [cloud.factory.password, ...dead])
    expect(await cloud.signIn(status?.endpoint ?? '', username, other)).toBe(401);
  return password;
}

describe.concurrent('a clone', () => {
  test('of another object waits for it, has its login, and gets its own size, machine and backup', async (context) => {
    const desk = await bench.desk(context);
    const { id, cloud } = desk;
    const copy = `${id}-copy`;
    const backup = { frequency: 'hourly', retentionDays: 30 };
    const spec = {
      ...CLONE,
      cloneFrom: { clusterRef: { name: id } },
      machineType: 'c2d-highcpu-8',
      storageSizeGB: 200,
      backup,
    };
    await desk.apply(...cloud.manifests(desk.spaceID), desk.cluster(spec, copy));
    await desk.until(
      'DatabaseCluster',
      { status: 'Unknown', reason: 'WaitingForSource', message: new RegExp(`"${id}"`) },
      copy,
    );
    await desk.apply(desk.cluster());
    const source = await isSecured(desk);
    await isSecured(desk, copy, [source]);
    expect(await cloud.cluster(copy)).toMatchObject({ machineType: 'c2d-highcpu-8', storageSizeGB: 200, backup });
    expect(await cloud.count('deploy', copy)).toBe(0);
    // The source is unchanged.
    expect(await isSecured(desk)).toBe(source);
  });

  test('of an id comes with the factory login', async (context) => {
    const desk = await bench.desk(context);
    const source = `${desk.id}-source`;
    await foreign(desk, source);
    await desk.begin({ ...CLONE, cloneFrom: { clusterID: source } });
    await isSecured(desk);
    expect(await desk.cloud.cluster(source)).toMatchObject({
      users: [{ username: 'admin', hasFactoryPassword: true }],
    });
  });

  test('of an id whose password is unknown is secured once existingSecretRef names it', async (context) => {
    const desk = await bench.desk(context);
    const clusterID = `${desk.id}-source`;
    await foreign(desk, clusterID);
    await desk.cloud.act('setPassword', { clusterID, username: 'admin', password: 'set-in-the-console' });
    await desk.begin({ ...CLONE, cloneFrom: { clusterID } });
    await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'DefaultLoginRefused',
      message: /existingSecretRef/,
    });
    await desk.apply(secret('console', { username: 'admin', password: 'set-in-the-console' }));
    await desk.patch({ adminCredentials: { existingSecretRef: { name: 'console' } } });
    await isSecured(desk, desk.id, ['set-in-the-console']);
  });

  test('has the factory login if the cloud does not copy users', async (context) => {
    const desk = await bench.desk(context, ['--clone-keeps-users=false']);
    const copy = `${desk.id}-copy`;
    await desk.begin();
    const source = await isSecured(desk);
    await desk.apply(desk.cluster({ ...CLONE, cloneFrom: { clusterRef: { name: desk.id } } }, copy));
    await isSecured(desk, copy, [source]);
  });

  test('whose immutable properties differ from those of its source is stalled, with its login secured', async (context) => {
    const desk = await bench.desk(context);
    const source = `${desk.id}-source`;
    await foreign(desk, source);
    await desk.begin({ ...CLONE, cloneFrom: { clusterID: source }, version: '3.4.0' });
    const { status } = await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'ImmutableFieldDiffers',
      message: /version is 3\.12\.0, the spec says 3\.4\.0/,
    });
    await waitUntil(async () => (await desk.cloud.cluster(desk.id))?.users[0]?.hasFactoryPassword === false, {
      what: 'it is secured',
    });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });
    expect(await desk.cloud.count('update', desk.id)).toBe(0);
  });

  test('that would be in another region than its spec says is not made', async (context) => {
    const desk = await bench.desk(context);
    const source = `${desk.id}-source`;
    await foreign(desk, source);
    await desk.begin({ ...CLONE, cloneFrom: { clusterID: source }, provider: 'gcp', region: 'us-east1' });
    await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'InvalidSpec',
      message: /region is europe-west2, the spec says us-east1\. Nothing was created yet/,
    });
    expect(await desk.cloud.count('clone', source)).toBe(0);
  });

  test('that is deleted while it is being made is destroyed, and its source stays', async (context) => {
    const desk = await bench.desk(context, ['--provision-time=1500ms']);
    const source = `${desk.id}-source`;
    await foreign(desk, source);
    await desk.begin({ ...CLONE, cloneFrom: { clusterID: source }, deletionPolicy: 'Delete' });
    await waitUntil(async () => (await desk.cloud.cluster(desk.id)) !== undefined, { what: 'it is being made' });
    await desk.remove('DatabaseCluster', desk.id);
    await desk.gone('DatabaseCluster');
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
    expect(await desk.cloud.cluster(source)).toMatchObject({ status: 'running' });
  });
});

describe.concurrent('an adopted cluster', () => {
  test('whose factory login was changed earlier is secured with existingSecretRef', async (context) => {
    const desk = await bench.desk(context);
    const { id: clusterID } = desk;
    await foreign(desk, clusterID);
    await desk.cloud.act('setPassword', { clusterID, username: 'admin', password: 'set-in-the-console' });
    await desk.apply(secret('console', { user: 'admin', pass: 'set-in-the-console' }));
    const existingSecretRef = { name: 'console', usernameKey: 'user', passwordKey: 'pass' };
    await desk.begin({ adoptionPolicy: 'MustExist', adminCredentials: { existingSecretRef } });
    await isSecured(desk, clusterID, ['set-in-the-console']);
    expect(await desk.cloud.count('deploy', clusterID)).toBe(0);
    // That Secret was only read.
    expect((await desk.secret('console'))?.data).toEqual({ user: 'admin', pass: 'set-in-the-console' });
  });

  test('that differs from the spec is changed to match it', async (context) => {
    const desk = await bench.desk(context);
    await desk.cloud.act('deployForeign', { id: desk.id, spaceID: desk.spaceID, ...LIKE_SPEC, storageSizeGB: 50 });
    await desk.begin({ adoptionPolicy: 'IfExists' });
    await isSecured(desk);
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ storageSizeGB: 100 });
  });
});

test.concurrent.for(['runs', 'is being made'])(
  'a cluster that %s stays with its object, and gets its finalizer back, when kubectl replace removes it',
  async (state, context) => {
    const desk = await bench.desk(context, state === 'runs' ? [] : ['--provision-time=1500ms']);
    await desk.begin({ deletionPolicy: 'Delete' });
    if (state === 'runs') await isSecured(desk);
    else await waitUntil(async () => (await desk.cloud.cluster(desk.id)) !== undefined, { what: 'it is being made' });
    const { apiVersion, kind, metadata, spec } = JSON.parse(await desk.kubectl('get', 'dbc', desk.id, '--output=json'));
    const { name, namespace } = metadata;
    const manifest = { apiVersion, kind, metadata: { name, namespace }, spec };
    await mustKubectl(['replace', '--filename=-'], { input: JSON.stringify(manifest) });
    const finalizers = () => desk.kubectl('get', 'dbc', desk.id, '--output=jsonpath={.metadata.finalizers}');
    await waitUntil(async () => (await finalizers()) === '["mooring.dev/cluster"]', { what: 'it is held again' });
    await isSecured(desk);
    expect(await desk.cloud.count('deploy', desk.id)).toBe(1);
    await desk.remove('DatabaseCluster', desk.id);
    await desk.gone('DatabaseCluster');
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
  },
);

describe.concurrent('the password is replaced', () => {
  test('on request, and the old one no longer works', async (context) => {
    const desk = await bench.desk(context);
    await desk.begin();
    const before = await isSecured(desk);
    await desk.annotate(desk.id, { 'mooring.dev/rotate-at': 'today' });
    await waitUntil(async () => (await desk.secret())?.data['password'] !== before, { what: 'another password' });
    const handled = '{.status.lastHandledRotateAt}';
    await waitUntil(
      async () => (await desk.kubectl('get', 'dbc', desk.id, `--output=jsonpath=${handled}`)) === 'today',
      {
        what: 'the asking is answered',
      },
    );
    await isSecured(desk, desk.id, [before]);
  });

  test('once its Secret is no longer immutable', async (context) => {
    const desk = await bench.desk(context);
    await desk.begin();
    const before = await isSecured(desk);
    const name = `${desk.id}-admin`;
    await desk.kubectl('patch', 'secret', name, '--patch={"immutable":true}');
    await desk.annotate(desk.id, { 'mooring.dev/rotate-at': 'today' });
    await desk.until(
      'DatabaseCluster',
      { status: 'False', reason: 'SecretImmutable', message: /replace the Secret/ },
      desk.id,
    );
    await desk.annotate(desk.id, { 'mooring.dev/paused': 'true' });
    await desk.until('DatabaseCluster', { status: 'Unknown', reason: 'Paused' }, desk.id);
    const { immutable, ...copy } = JSON.parse(await desk.kubectl('get', 'secret', name, '--output=json'));
    expect(immutable).toBe(true);
    await mustKubectl(['replace', '--force', '--filename=-'], { input: JSON.stringify(copy) });
    await desk.kubectl('annotate', 'dbc', desk.id, 'mooring.dev/paused-');
    await waitUntil(async () => ![undefined, before].includes((await desk.secret())?.data['password']), {
      what: 'another password',
    });
    await isSecured(desk, desk.id, [before]);
  });

  test('when it is due', async (context) => {
    const desk = await bench.desk(context);
    await desk.begin({ adminCredentials: { rotateEvery: '10m' } });
    const before = await isSecured(desk);
    // As if that had been eleven minutes ago. An annotation asks for the pass that sees it.
    const status = { lastRotation: new Date(Date.now() - 11 * 60_000).toISOString() };
    await desk.kubectl(
      'patch',
      'dbc',
      desk.id,
      '--subresource=status',
      '--type=merge',
      `--patch=${JSON.stringify({ status })}`,
    );
    await desk.annotate(desk.id, { 'mooring.dev/reconcile-at': 'now' });
    await waitUntil(async () => (await desk.secret())?.data['password'] !== before, { what: 'another password' });
    await waitUntil(async () => (await desk.secret())?.data['nextPassword'] === undefined, {
      what: 'only one password',
    });
    await isSecured(desk, desk.id, [before]);
  });
});

const FREE = { isFree: true, machineType: 'c2d-highcpu-2', storageSizeGB: 10 };

describe.concurrent('free tier and payment', () => {
  test("a second free cluster shows the cloud's message, and is deployed when the first is gone", async (context) => {
    const desk = await bench.desk(context, []);
    const first = `${desk.id}-first`;
    await desk.cloud.act('deployForeign', { id: first, spaceID: desk.spaceID, ...FREE });
    await desk.begin(FREE);
    const { status } = await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'RefusedByCloud',
      message: /the team already has 1 free cluster.*Change the spec, or what the answer names/,
    });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });
    expect(status?.lastError).toMatchObject({ operation: 'deploy', httpStatus: 400 });
    // For the time of two Lists it is not tried again.
    const [tries, lists] = [await desk.cloud.count('deploy'), await desk.cloud.count('list')];
    await waitUntil(async () => (await desk.cloud.count('list')) >= lists + 2, { what: 'two more Lists' });
    expect(await desk.cloud.count('deploy')).toBe(tries);

    await desk.cloud.act('vanish', { clusterID: first });
    await desk.ready();
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ isFree: true });
  });

  test.for([
    [400, 'RefusedByCloud'],
    [403, 'AccessDenied'],
  ] as const)(
    "a cluster of a team without payment method shows the cloud's message (%s)",
    async ([status, reason], context) => {
      const desk = await bench.desk(context, ['--no-payment-method', `--rule-violation-status=${status}`]);
      await desk.begin();
      await desk.until('DatabaseCluster', { status: 'False', reason, message: /the team has no valid payment method/ });
      const free = `${desk.id}-free`;
      await desk.apply(desk.cluster(FREE, free));
      await desk.ready(free);
      // A change of a free cluster needs one, too, except a change of its id.
      await desk.patch({ backup: { frequency: 'disabled', retentionDays: 30 } }, free);
      await desk.until('DatabaseCluster', { status: 'False', reason, message: /no valid payment method/ }, free);

      await desk.cloud.act('setPaymentMethod', { teamID: 'acme', valid: true });
      for (const name of [desk.id, free]) await desk.annotate(name, { 'mooring.dev/reconcile-at': 'paid' });
      await desk.ready();
      await desk.ready(free);
      expect(await desk.cloud.cluster(free)).toMatchObject({ backup: { retentionDays: 30 } });
      expect(await mustKubectl(['get', 'events', `--namespace=${desk.namespace}`])).toMatch(/no valid payment method/);
    },
  );
});
