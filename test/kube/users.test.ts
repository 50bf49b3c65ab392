import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mustKubectl, waitUntil } from '../support/control-plane.ts';
import { cluster, type Manifest, secret, user, wholeSpace } from '../support/manifests.ts';
import { type OperatorBench, startBench, type TestContext } from '../support/operator-bench.ts';
import { conditionOf, type Site } from '../support/site.ts';

/*
 * Users on the real API server, by the real operator. Nothing is verified on a schedule here (verifyInterval is 0s): reactions
 * to a change come from hearing of it.
 */

let bench: OperatorBench;

beforeAll(async () => {
  bench = await startBench(19);
});

afterAll(() => bench?.close());

/** The simulations play the other dialect. */
const dialect = 'field';

async function ready(context: TestContext, spec: Record<string, unknown> = {}): Promise<Site> {
  const site = await bench.site(context, { dialect });
  await site.apply(...wholeSpace(site.cloud), cluster(), user(spec));
  await site.until('DatabaseUser', { status: 'True', reason: 'LoginWorks' });
  return site;
}

const connection = async (site: Site, name = 'app-connection') => (await site.secret(name))?.data ?? {};
const works = ({ cloud }: Site, password: string | undefined, username = 'app') =>
  password !== undefined && cloud.simulator.passwordIs('orders', username, password);
const usersOf = ({ cloud }: Site) =>
  [...cloud.simulator.clusters()].flatMap(({ database }) => [...database.users.keys()]);
const putsOf = ({ cloud }: Site) => cloud.sent('PUT /users/app').length;

/** Waits until somebody's change of the Secret is undone. */
async function putRight(site: Site, wanted: (secret: NonNullable<Awaited<ReturnType<Site['secret']>>>) => boolean) {
  const check = async () => {
    const found = await site.secret('app-connection');
    return found !== undefined && wanted(found) ? found : undefined;
  };
  return waitUntil(check, { what: 'the connection Secret is put right' });
}

describe.concurrent('a user', () => {
  test('is Ready even if everything is applied at once, the user first', async (context) => {
    const site = await bench.site(context, { dialect });
    const { cloud } = site;
    await site.apply(user({ connectionSecret: { name: 'app-db' } }), cluster(), ...wholeSpace(cloud).toReversed());
    const { status, metadata } = await site.until('DatabaseUser', { status: 'True' });
    expect(status).toMatchObject({ username: 'app', binding: { name: 'app-db' } });
    const found = await site.secret('app-db');
    const endpoint = (await site.get('DatabaseCluster'))?.status?.endpoint ?? '';
    const { hostname, port, host } = new URL(endpoint);
    expect(found).toMatchObject({
      type: 'servicebinding.io/database',
      labels: { 'mooring.dev/user': 'app', 'app.kubernetes.io/managed-by': 'mooring' },
      ownerReferences: [{ kind: 'DatabaseUser', uid: metadata.uid }],
      data: {
        type: 'database',
        provider: 'mooring',
        host: hostname,
        port,
        username: 'app',
        uri: endpoint,
        addresses: host,
      },
    });
    expect(await cloud.signIn(endpoint, 'app', found?.data['password'] ?? '')).toBe(200);
    // Waiting for the cluster was no error.
    const events = (await site.events()).filter(({ regarding }) => regarding === 'DatabaseUser/app');
    expect(events.filter(({ type }) => type !== 'Normal')).toEqual([]);
    expect(putsOf(site)).toBe(0);
  });

  test("has a person's own password, and follows its changes", async (context) => {
    const site = await bench.site(context, { dialect });
    await site.apply(...wholeSpace(site.cloud), cluster(), user({ passwordSecretRef: { name: 'mine' } }));
    await site.until('DatabaseUser', { status: 'Unknown', reason: 'SecretNotFound' });
    await site.apply(secret('mine', { password: 'first-of-mine-51' }));
    await site.until('DatabaseUser', { status: 'True' });
    expect(await connection(site)).toMatchObject({ password: 'first-of-mine-51' });
    await site.apply(secret('mine', { password: 'second-of-mine-52' }));
    const hasSecond = async () => (await connection(site))['password'] === 'second-of-mine-52';
    await waitUntil(hasSecond, { what: 'the second password is applied' });
    expect(works(site, 'second-of-mine-52')).toBe(true);
    await site.apply(secret('mine', { password: 'x'.repeat(73) }));
    await site.until('DatabaseUser', {
      status: 'False',
      reason: 'InvalidPassword',
      message: /Secret "mine".*73 bytes/,
    });
    expect(await connection(site)).toMatchObject({ password: 'second-of-mine-52' });
  });

  test('rotates on demand, and clients find each password in the Secret while it works', async (context) => {
    const site = await ready(context);
    const before = await connection(site);
    await site.annotate('app', { 'mooring.dev/rotate-at': '1' }, 'DatabaseUser');
    const isRotated = async () => {
      const { password, nextPassword } = await connection(site);
      return password !== before['password'] && nextPassword === undefined;
    };
    await waitUntil(isRotated, { what: 'the password is another one' });
    const { password } = await connection(site);
    expect([works(site, password), works(site, before['password'])]).toEqual([true, false]);
    expect(putsOf(site)).toBe(1);
  });

  test('gets a new password after its Secret was deleted', async (context) => {
    const site = await ready(context);
    const before = await connection(site);
    await site.remove('Secret', 'app-connection');
    const { data } = await putRight(site, (found) => found.data['password'] !== undefined);
    expect(data['password']).not.toBe(before['password']);
    expect(works(site, data['password'])).toBe(true);
  });

  test('has its Secret repaired whatever others write into it', async (context) => {
    const site = await ready(context, { connectionSecret: { labels: { team: 'shop' } } });
    const { data: wanted, labels, annotations } = (await site.secret('app-connection')) ?? {};
    const edit = (fields: Readonly<Record<string, unknown>>) =>
      mustKubectl([
        ...['patch', 'secret', 'app-connection', `--namespace=${site.namespace}`],
        ...['--type=merge', `--patch=${JSON.stringify(fields)}`],
      ]);
    await edit({ data: { host: Buffer.from('elsewhere').toString('base64'), uri: null, surplus: 'eA==' } });
    expect((await putRight(site, ({ data }) => data['host'] === wanted?.['host'])).data).toEqual(wanted);
    await edit({ metadata: { labels: { team: null }, annotations: { 'mooring.dev/checksum': 'x' } } });
    const restored = await putRight(site, (found) => found.labels['team'] === 'shop');
    expect(restored).toMatchObject({ labels, annotations });
    await edit({ data: { password: Buffer.from('set by somebody').toString('base64') } });
    const { data } = await putRight(site, (found) => works(site, found.data['password']));
    expect(data['nextPassword']).toBeUndefined();
    await site.until('DatabaseUser', { status: 'True' });
  });

  test('leaves a Secret of somebody else alone, and takes its place once it is gone', async (context) => {
    const site = await bench.site(context, { dialect });
    await site.apply(secret('app-connection', { password: 'theirs' }));
    await site.apply(...wholeSpace(site.cloud), cluster(), user());
    await site.until('DatabaseUser', { status: 'False', reason: 'SecretNotOurs' });
    expect(await connection(site)).toEqual({ password: 'theirs' });
    await site.remove('Secret', 'app-connection');
    await site.until('DatabaseUser', { status: 'True' });
  });

  test('moves to a Secret of another name, with the same password', async (context) => {
    const site = await ready(context);
    const { password } = await connection(site);
    await site.apply(user({ connectionSecret: { name: 'renamed' } }));
    await waitUntil(async () => (await site.secret('app-connection')) === undefined, {
      what: 'the former one is gone',
    });
    expect(await connection(site, 'renamed')).toMatchObject({ password });
    expect((await site.get('DatabaseUser'))?.status?.binding).toEqual({ name: 'renamed' });
  });

  test('waits for a suspended cluster, follows its new address, and keeps its password', async (context) => {
    const site = await ready(context);
    const before = await connection(site);
    site.cloud.simulator.setKnobs({ resumeChangesAddress: true });
    await site.apply(cluster({ state: 'Suspended' }));
    await site.until('DatabaseUser', { status: 'True', reason: 'ClusterSuspended' });
    const warnings = (await site.events()).filter(
      ({ type, regarding }) => type === 'Warning' && regarding.includes('User'),
    );
    expect(warnings).toEqual([]);
    await site.apply(cluster());
    await site.until('DatabaseUser', { status: 'True', reason: 'LoginWorks' });
    const after = await connection(site);
    expect(after['password']).toBe(before['password']);
    expect(after['uri']).not.toBe(before['uri']);
    expect(after['uri']).toBe((await site.get('DatabaseCluster'))?.status?.endpoint);
  });

  test('is repaired with one update after its password was changed on the server', async (context) => {
    const site = await ready(context);
    const { password } = await connection(site);
    site.cloud.simulator.setPassword('orders', 'app', 'changed-in-the-console-78');
    await site.annotate('app', { 'mooring.dev/reconcile-at': '1' }, 'DatabaseUser');
    await waitUntil(() => works(site, password), { what: 'the password in the Secret works' });
    const isTold = async () =>
      (await site.events()).some(
        ({ regarding, reason }) => regarding === 'DatabaseUser/app' && reason === 'DriftCorrected',
      );
    await waitUntil(isTold, { what: 'an Event tells of it' });
    expect(putsOf(site)).toBe(1);
    const kind = { kind: 'DatabaseUser', field: 'password' };
    expect(await bench.operator.metric('mooring_drift_corrected_total', kind)).toBeGreaterThanOrEqual(1);
  });

  test('with two objects belongs to the older one', async (context) => {
    const site = await ready(context);
    await site.apply(user({ username: 'app' }, {}, 'second'));
    await site.until('DatabaseUser', { status: 'False', reason: 'UserClaimed', message: /"\S+\/app"/ }, 'second');
    await site.remove('DatabaseUser', 'app');
    await site.until('DatabaseUser', { status: 'True' }, 'second');
    expect(works(site, (await connection(site, 'second-connection'))['password'])).toBe(true);
  });

  test("cannot be the cluster's own", async (context) => {
    const site = await bench.site(context, { dialect });
    await site.apply(...wholeSpace(site.cloud), cluster(), user({ username: 'admin', adoptionPolicy: 'IfExists' }));
    await site.until('DatabaseUser', { status: 'False', reason: 'UsernameReserved' });
    await site.remove('DatabaseUser', 'app');
    await site.gone('DatabaseUser');
    expect(usersOf(site)).toEqual(['admin']);
    await site.ready();
  });
});

describe.concurrent('deleting a user', () => {
  test('deletes its login and its Secret', async (context) => {
    const site = await ready(context);
    await site.remove('DatabaseUser', 'app');
    await site.gone('DatabaseUser');
    expect(usersOf(site)).toEqual(['admin']);
    // Kubernetes' garbage collector takes up to half a minute to learn of kinds that were just installed.
    const isGone = async () => (await site.secret('app-connection')) === undefined;
    await waitUntil(isGone, { what: 'the Secret is gone', timeoutMs: 100_000 });
  });

  test('with its namespace, where everything goes at once, works', async (context) => {
    const site = await bench.site(context, { dialect });
    const { namespace, cloud } = site;
    await site.apply(...wholeSpace(cloud), cluster({ deletionPolicy: 'Delete' }), user(), user({}, {}, 'second'));
    await site.until('DatabaseUser', { status: 'True' });
    await site.until('DatabaseUser', { status: 'True' }, 'second');
    await bench.api.send('DELETE', `/api/v1/namespaces/${namespace}`);
    const isGone = async () => (await bench.api.send('GET', `/api/v1/namespaces/${namespace}`)).status === 404;
    await waitUntil(isGone, { what: 'the namespace is gone', timeoutMs: 50_000 });
  });

  test.for([{ order: ['dbc/orders', 'dbu/app'] }, { order: ['dbs/production', 'dbc/orders', 'dbu/app'] }])(
    'removes it from the server before what it needs there goes, deleted in the order $order',
    async ({ order }, context) => {
      const site = await ready(context);
      const { namespace } = site;
      const isHeld = async () => (await site.get('DatabaseSpace'))?.metadata.finalizers !== undefined;
      await waitUntil(isHeld, { what: 'the space has its finalizer' });
      await mustKubectl(['delete', ...order, '--wait=false', '--namespace', namespace]);
      await Promise.all([site.gone('DatabaseUser'), site.gone('DatabaseCluster')]);
      expect(usersOf(site)).toEqual(['admin']);
      expect((await site.events()).filter(({ reason }) => reason === 'UserLeft')).toEqual([]);
    },
  );

  test('does not wait for a cluster that is gone, nor for its admin Secret', async (context) => {
    const site = await ready(context);
    await site.remove('Secret', 'orders-admin');
    await site.remove('DatabaseCluster', 'orders');
    await site.gone('DatabaseCluster');
    await site.until('DatabaseUser', { status: 'Unknown', reason: 'ClusterNotFound' });
    await site.remove('DatabaseUser', 'app');
    await site.gone('DatabaseUser');
    const isTold = async () =>
      (await site.events()).some(({ reason, type }) => reason === 'UserLeft' && type === 'Warning');
    await waitUntil(isTold, { what: 'a warning that the user stays' });
    expect(usersOf(site)).toEqual(['admin', 'app']);
  });
});

describe('from another namespace', () => {
  test('only admitted namespaces get a user, and nobody else learns anything', async (context) => {
    const site = await ready(context);
    const tenant = await bench.site(context, { dialect });
    const theirs = user({ clusterRef: { name: 'orders', namespace: site.namespace } }, {}, 'theirs');
    // The password in another namespace's Secret cannot be used: there is no field for its namespace.
    const reach: Manifest = {
      ...theirs,
      metadata: { name: 'reach' },
      spec: {
        clusterRef: { name: 'orders', namespace: site.namespace },
        username: 'app',
        adoptionPolicy: 'IfExists',
        passwordSecretRef: { name: 'app-connection', namespace: site.namespace },
      },
    };
    await tenant.apply(theirs);
    expect(await tenant.refused(reach)).not.toEqual([]);
    const { status } = await tenant.until('DatabaseUser', { status: 'False', reason: 'ClusterNotAllowed' }, 'theirs');
    const endpoint = (await site.get('DatabaseCluster'))?.status?.endpoint ?? 'none';
    const told = JSON.stringify([status, await tenant.events()]);
    for (const word of [endpoint, new URL(endpoint).host, 'orders-admin', 'app-connection', 'admin"'])
      expect(told).not.toContain(word);
    expect(await tenant.secret('theirs-connection')).toBeUndefined();
    expect(usersOf(site)).toEqual(['admin', 'app']);
    expect((await tenant.get('DatabaseUser', 'theirs'))?.metadata.finalizers).toBeUndefined();

    await site.apply(cluster({ allowedNamespaces: { from: 'All' } }));
    await tenant.until('DatabaseUser', { status: 'True' }, 'theirs');
    expect(works(site, (await connection(tenant, 'theirs-connection'))['password'], 'theirs')).toBe(true);

    await site.apply(cluster({ allowedNamespaces: { from: 'Same' } }));
    await tenant.until('DatabaseUser', { status: 'False', reason: 'ClusterNotAllowed' }, 'theirs');
    await tenant.remove('DatabaseUser', 'theirs');
    await tenant.until('DatabaseUser', { status: 'False', reason: 'DeletionBlocked' }, 'theirs');
    await site.apply(cluster({ allowedNamespaces: { from: 'All' } }));
    await tenant.gone('DatabaseUser', 'theirs');
    expect(usersOf(site)).toEqual(['admin', 'app']);
  });
});

describe('the API server', () => {
  const refusals: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    [
      'rotateEvery with an own password',
      { passwordSecretRef: { name: 'mine' }, rotateEvery: '1h' },
      /rotateEvery is for generated/,
    ],
    ['an unknown placeholder', { connectionSecret: { template: { URL: '{{ hots }}' } } }, /unknown placeholder/],
    [
      'code in a template',
      { connectionSecret: { template: { URL: '{{ host.constructor }}' } } },
      /unknown placeholder/,
    ],
    ['a key that every Secret has', { connectionSecret: { template: { nextPassword: 'x' } } }, /must not name/],
    [
      'a label of ours',
      { connectionSecret: { labels: { 'mooring.dev/user': 'x' } } },
      /the operator sets these itself/,
    ],
    ['a username with a space', { username: 'a b' }, /must begin with a letter/],
    ['a rotation each second', { rotateEvery: '1s' }, /at least 10m/],
  ];

  test('refuses at once what is visibly wrong', async (context) => {
    const site = await bench.site(context, { dialect });
    for (const [what, spec, message] of refusals)
      expect((await site.refused(user(spec))).join('; '), what).toMatch(message);
    const dotted = { ...user(), metadata: { name: 'app.eu' } };
    expect((await site.refused(dotted)).join('; ')).toMatch(/set spec.username/);
    await site.apply(
      user({ username: 'mü_1-x', connectionSecret: { template: { URL: '{{ password|urlencode }} {}' } } }),
    );
    for (const [what, spec] of [
      ['another username', { username: 'other' }],
      ['no username', {}],
      ['another cluster', { username: 'mü_1-x', clusterRef: { name: 'other' } }],
    ] as const)
      expect(await site.refused(user(spec)), what).not.toEqual([]);
  });
});

test('nothing that the operator says contains a password', async (context) => {
  const site = await bench.site(context, { dialect, knobs: { echoSecrets: true } });
  const { simulator } = site.cloud;
  simulator.faults.add({
    match: { operation: ['createUser', 'updateUser'], username: 'app' },
    effect: 'errorBefore',
    times: 1,
  });
  await site.apply(secret('mine', { password: 'first-of-mine-81' }));
  await site.apply(...wholeSpace(site.cloud), cluster(), user({ passwordSecretRef: { name: 'mine' } }));
  await site.until('DatabaseUser', { status: 'True' });
  simulator.faults.add({
    match: { operation: 'updateUser', username: 'app' },
    effect: 'errorBefore',
    times: 1,
    status: 400,
  });
  await site.apply(secret('mine', { password: 'second-of-mine-82' }));
  await waitUntil(() => works(site, 'second-of-mine-82') || site.cloud.sent('PUT /users/app').length > 0, {
    what: 'it was put',
  });
  await site.apply(user());
  await site.annotate('app', { 'mooring.dev/rotate-at': '1' }, 'DatabaseUser');
  const isRotated = async () => (await site.get('DatabaseUser'))?.status?.lastHandledRotateAt === '1';
  await waitUntil(isRotated, { what: 'the password is rotated' });
  await site.until('DatabaseUser', { status: 'True' });
  const secrets = new Set([
    ...site.cloud.secrets,
    ...Object.values(await connection(site)).filter((value) => value.length > 30),
  ]);
  secrets.delete((await connection(site))['uri'] ?? '');
  for (const name of ['admin', 'write-id', 'admin-id']) secrets.delete(name);
  expect(secrets.size).toBeGreaterThan(5);
  const texts = {
    logs: bench.operator.logs(),
    metrics: await bench.operator.metricsText(),
    events: JSON.stringify(await site.events()),
    objects: JSON.stringify(await site.get('DatabaseUser')),
  };
  expect(conditionOf((await site.get('DatabaseUser'))?.status)?.reason).toBe('LoginWorks');
  for (const [place, text] of Object.entries(texts))
    for (const value of secrets) expect(text.includes(value), `${place} holds "${value}"`).toBe(false);
});
