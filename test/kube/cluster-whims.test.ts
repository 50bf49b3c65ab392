import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../support/control-plane.ts';
import { type Desk, type KubectlBench, startKubectlBench } from '../support/kubectl-bench.ts';
import { secret } from '../support/manifests.ts';
import { startSimulatedCloud } from '../support/simulated-cloud.ts';
import { conditionOf } from '../support/site.ts';

/* People change their minds, all at once and at the wrong moment; others act behind their backs. By kubectl. */

let bench: KubectlBench;

beforeAll(async () => {
  bench = await startKubectlBench(17);
});

afterAll(() => bench?.close());

type Context = Parameters<KubectlBench['desk']>[0];

async function settled(context: Context, spec: Readonly<Record<string, unknown>> = {}, flags?: readonly string[]) {
  const desk = await bench.desk(context, flags);
  await desk.begin(spec);
  await desk.ready();
  return desk;
}

/** Waits for the next two Lists. */
async function lookedAgain({ cloud }: Desk): Promise<void> {
  const before = await cloud.count('list');
  await waitUntil(async () => (await cloud.count('list')) >= before + 2, { what: 'two more Lists' });
}

const eventsOf = async (desk: Desk, reason: string) =>
  (await desk.events()).filter((event) => event.regarding.endsWith(desk.id) && event.reason === reason);

describe.concurrent('changes of mind', () => {
  test('three fields at once make one update, and one Event with old and new values', async (context) => {
    const desk = await settled(context);
    const backup = { frequency: 'hourly', retentionDays: 30 };
    await desk.patch({ storageSizeGB: 200, machineType: 'c2d-highcpu-8', backup });
    await desk.ready();
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({
      storageSizeGB: 200,
      machineType: 'c2d-highcpu-8',
      backup,
    });
    expect(await desk.cloud.count('update', desk.id)).toBe(1);
    // Events are written beside the passes, and this one perhaps after the next status.
    const updating = () => eventsOf(desk, 'Updating');
    await waitUntil(async () => (await updating()).length > 0, { what: 'the event' });
    const [event, ...more] = await updating();
    expect(more).toEqual([]);
    for (const change of [
      'machineType from c2d-highcpu-4 to c2d-highcpu-8',
      'storageSizeGB from 100 to 200',
      'backup from daily, kept 7 days to hourly',
    ])
      expect(event?.note).toContain(change);
  });

  test('id and storage at once lead to both', async (context) => {
    const desk = await settled(context);
    await desk.patch({ clusterID: `${desk.id}-new`, storageSizeGB: 200 });
    const { status } = await desk.ready();
    expect(status?.clusterID).toBe(`${desk.id}-new`);
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
    expect(await desk.cloud.cluster(`${desk.id}-new`)).toMatchObject({ storageSizeGB: 200 });
  });

  test('suspended, resumed and suspended again within moments ends suspended', async (context) => {
    const desk = await settled(context, {}, ['--suspend-time=1s', '--resume-time=1s']);
    for (const state of ['Suspended', 'Running', 'Suspended']) await desk.patch({ state });
    await desk.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'suspended' });
    await desk.patch({ state: 'Running' });
    await desk.ready();
    for (const state of ['Suspended', 'Running']) await desk.patch({ state });
    await desk.until('DatabaseCluster', { status: 'True', reason: 'Running' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'running' });
  });

  test('suspended while it is deployed: it is secured first, and then suspended', async (context) => {
    const desk = await bench.desk(context, ['--provision-time=1s']);
    await desk.begin();
    await desk.until('DatabaseCluster', { reason: 'Deploying' });
    await desk.patch({ state: 'Suspended' });
    await desk.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({
      status: 'suspended',
      users: [{ username: 'admin', hasFactoryPassword: false }],
    });
  });

  test('a machine type that is changed and set back during suspension causes nothing', async (context) => {
    const desk = await settled(context, { state: 'Suspended' });
    await desk.patch({ machineType: 'c2d-highcpu-8' });
    await desk.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    await desk.patch({ machineType: 'c2d-highcpu-4' });
    await desk.until('DatabaseCluster', { status: 'True', reason: 'Suspended' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ machineType: 'c2d-highcpu-4', status: 'suspended' });
    expect(await desk.cloud.count('resume', desk.id)).toBe(0);
  });

  test('the policy is changed to Retain while deletion is blocked: the object goes, the cluster stays', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete', deletionProtection: true });
    await desk.remove('DatabaseCluster', desk.id);
    await desk.until('DatabaseCluster', { status: 'False', reason: 'DeletionProtected' });
    await desk.patch({ deletionPolicy: 'Retain', storageSizeGB: 200 });
    await desk.until('DatabaseCluster', { status: 'False', reason: 'DeletionProtected' });
    await desk.patch({ deletionProtection: false });
    await desk.gone('DatabaseCluster');
    // Changes during the deletion are not applied.
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'running', storageSizeGB: 100 });
  });

  test('the object is deleted and created again while its cluster is being destroyed: it gets a new cluster', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete' }, ['--destroy-time=1500ms']);
    const before = (await desk.cloud.cluster(desk.id))?.createdAt;
    await desk.remove('DatabaseCluster', desk.id);
    await desk.until('DatabaseCluster', { reason: 'Destroying' });
    await desk.gone('DatabaseCluster');
    await desk.apply(desk.cluster());
    await desk.ready();
    expect((await desk.cloud.cluster(desk.id))?.createdAt).not.toBe(before);
  });

  test('an object that created nothing goes at once, whatever is wrong with it', async (context) => {
    const desk = await bench.desk(context);
    await desk.apply(desk.cluster({ deletionPolicy: 'Delete', cloneFrom: { clusterID: 'nobody' } }));
    await desk.until('DatabaseCluster', { status: 'Unknown', reason: 'SpaceNotFound' });
    await desk.remove('DatabaseCluster', desk.id);
    await desk.gone('DatabaseCluster');
  });
});

describe.concurrent('behind their backs', () => {
  test('a cluster that is renamed in the console is renamed back with driftPolicy Revert, and an Event says so', async (context) => {
    const desk = await settled(context);
    const other = `${desk.id}-x`;
    await desk.cloud.act('changeCluster', { clusterID: desk.id, spaceID: desk.spaceID, change: { id: other } });
    await waitUntil(async () => (await desk.cloud.count('update', other)) === 1, { what: 'it is renamed back' });
    await desk.ready();
    expect(await desk.cloud.cluster(other)).toBeUndefined();
    expect(await desk.cloud.count('deploy', desk.id)).toBe(1);
    await waitUntil(async () => (await eventsOf(desk, 'RenamedElsewhere')).length === 1, { what: 'the event' });
    const [event] = await eventsOf(desk, 'RenamedElsewhere');
    expect(event?.note).toMatch(new RegExp(`"${desk.id}" was renamed to "${other}"`));
  });

  test('with driftPolicy Report it keeps its new id, and the status says so', async (context) => {
    const desk = await settled(context, { driftPolicy: 'Report' });
    const other = `${desk.id}-x`;
    await desk.cloud.act('changeCluster', { clusterID: desk.id, spaceID: desk.spaceID, change: { id: other } });
    const message = new RegExp(`"${desk.id}" was renamed to "${other}".*nothing is changed`);
    const { status } = await desk.until('DatabaseCluster', { status: 'False', reason: 'RenamedElsewhere', message });
    expect(status).toMatchObject({ clusterID: other, drift: [{ field: 'clusterID' }] });
    await desk.patch({ clusterID: other });
    await desk.ready();
    expect(await desk.cloud.count('update', other)).toBe(0);
  });

  test('a cluster whose space moved to another cloud is left alone in both, and found again when the space is back', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete', recreatePolicy: 'Always' });
    const elsewhere = await startSimulatedCloud([...Array(17).keys()].map((index) => `space-${index}`));
    context.onTestFinished(() => elsewhere.close());
    const move = (baseURL: string) =>
      desk.kubectl('patch', 'dbs', 'production', '--type=merge', `--patch=${JSON.stringify({ spec: { baseURL } })}`);
    await move(elsewhere.baseURL);
    const { status } = await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'SpaceMoved',
      message: new RegExp(`at ${desk.cloud.baseURL}, but .* at ${elsewhere.baseURL}`),
    });
    expect(status?.conditions?.[1]).toMatchObject({ type: 'Stalled', status: 'True' });
    expect(conditionOf(status, 'Synced')).toMatchObject({ status: 'Unknown' });

    await desk.remove('DatabaseCluster', desk.id);
    await desk.until('DatabaseCluster', { status: 'False', reason: 'DeletionBlocked', message: /Set the space back/ });
    const lists = await elsewhere.count('list');
    await waitUntil(async () => (await elsewhere.count('list')) >= lists + 2, { what: 'the other cloud is listed' });
    for (const what of ['deploy', 'destroy']) expect(await elsewhere.count(what)).toBe(0);
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'running' });

    await move(desk.cloud.baseURL);
    await desk.gone('DatabaseCluster');
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
  });

  test('a cluster whose cloud has a new address is followed there when its owner says so', async (context) => {
    const desk = await settled(context);
    const baseURL = desk.cloud.baseURL.replace('127.0.0.1', 'localhost');
    expect(baseURL).not.toBe(desk.cloud.baseURL);
    await desk.apply(...desk.cloud.manifests(desk.spaceID, { baseURL }));
    const { status } = await desk.until('DatabaseCluster', { status: 'False', reason: 'SpaceMoved' });
    const createdAt = status?.createdAt ?? '';
    expect(conditionOf(status)?.message).toContain(`annotate mooring.dev/accept-identity=${createdAt}`);
    await desk.annotate(desk.id, { 'mooring.dev/accept-identity': createdAt });
    await desk.ready();
    expect(await desk.kubectl('get', 'dbc', desk.id, '--output=jsonpath={.status.place.baseURL}')).toBe(baseURL);
    expect(await desk.cloud.count('deploy', desk.id)).toBe(1);
  });

  test('a destroy that the cloud refuses is reported and tried again, and the finalizer stays', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete' });
    const match = { operation: 'destroy', spaceID: desk.spaceID };
    const allow = await desk.cloud.addFault({ match, effect: 'errorBefore', status: 403 });
    await desk.remove('DatabaseCluster', desk.id);
    await desk.until('DatabaseCluster', { status: 'False', reason: 'DeletionBlocked', message: /level admin/ });
    const blocked = { kind: 'DatabaseCluster', reason: 'DeletionBlocked' };
    // The metric counts at the end of the pass, a moment after the status can be read.
    await waitUntil(async () => (await bench.operator.metric('mooring_resources', blocked)) > 0, { what: 'it counts' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ status: 'running' });
    await desk.cloud.addFault({ match, effect: 'errorBefore', status: 500, times: 1 });
    await allow();
    await desk.annotate(desk.id, { 'mooring.dev/reconcile-at': 'now' });
    await desk.gone('DatabaseCluster');
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
    expect(await desk.cloud.count('destroy', desk.id)).toBeGreaterThanOrEqual(3);
  });

  test('of two objects for one id the older has it; the other says who has it, and gets it later', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete' });
    const second = `${desk.id}-second`;
    await desk.apply(desk.cluster({ clusterID: desk.id }, second));
    const message = new RegExp(`belongs to DatabaseCluster "${desk.namespace}/${desk.id}"`);
    await desk.until('DatabaseCluster', { status: 'False', reason: 'ClusterIDClaimed', message }, second);
    await lookedAgain(desk);
    expect(await desk.cloud.count('deploy', desk.id)).toBe(1);
    await desk.ready();
    await desk.remove('DatabaseCluster', desk.id);
    await desk.gone('DatabaseCluster');
    await desk.ready(second);
    expect(await desk.cloud.count('deploy', desk.id)).toBe(2);
  });

  test('a cluster that was replaced is left alone until its owner accepts it, and then gets its own login', async (context) => {
    const desk = await settled(context, { deletionPolicy: 'Delete' });
    const { secretBefore } = { secretBefore: await desk.secret() };
    await desk.cloud.act('replaceCluster', { clusterID: desk.id });
    const createdAt = new Date((await desk.cloud.cluster(desk.id))?.createdAt ?? 0).toISOString();
    const { status } = await desk.until('DatabaseCluster', {
      status: 'False',
      reason: 'IdentityChanged',
      message: new RegExp(`accept-identity=${createdAt}`),
    });
    expect(conditionOf(status, 'CredentialsSecured')).toMatchObject({ status: 'False', reason: 'ClusterNotOurs' });
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ users: [{ hasFactoryPassword: true }] });
    await desk.annotate(desk.id, { 'mooring.dev/accept-identity': createdAt });
    await desk.ready();
    expect(await desk.cloud.cluster(desk.id)).toMatchObject({ users: [{ hasFactoryPassword: false }] });
    expect((await desk.secret())?.data['password']).not.toBe(secretBefore?.data['password']);
  });

  test('a cluster that vanished is reported with its login, and recreated only with recreatePolicy Always', async (context) => {
    const desk = await settled(context);
    await desk.cloud.act('vanish', { clusterID: desk.id });
    const { status } = await desk.until('DatabaseCluster', { status: 'False', reason: 'ClusterMissing' });
    expect(conditionOf(status, 'CredentialsSecured')).toMatchObject({ status: 'False', reason: 'ClusterMissing' });
    await lookedAgain(desk);
    expect(await desk.cloud.cluster(desk.id)).toBeUndefined();
    await desk.patch({ recreatePolicy: 'Always' });
    await desk.ready();
    expect(await desk.cloud.count('deploy', desk.id)).toBe(2);
  });

  test('the admin Secret is deleted: it comes back, and a Secret of somebody else is not treated as it', async (context) => {
    const desk = await settled(context);
    const before = await desk.secret();
    await desk.remove('Secret' as const, `${desk.id}-admin`);
    const after = await waitUntil(
      async () => {
        const now = await desk.secret();
        return now !== undefined && now.data['nextPassword'] === undefined ? now : undefined;
      },
      { what: 'the Secret is back' },
    );
    expect(after.data['password']).not.toBe(before?.data['password']);
    // Somebody else's Secret of that name is not touched.
    const mine = secret(`${desk.id}-other`, { username: 'mine' });
    await desk.apply(mine);
    await desk.patch({ adminCredentials: { secretName: `${desk.id}-other` } });
    await desk.until('DatabaseCluster', { status: 'False', reason: 'SecretNotOurs' });
    expect((await desk.secret(`${desk.id}-other`))?.data).toEqual({ username: 'mine' });
  });
});
