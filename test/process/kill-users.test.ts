import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace, waitUntil } from '../support/control-plane.ts';
import { type Gate, silence } from '../support/gate.ts';
import { startKubeProxy } from '../support/kube-proxy.ts';
import { cluster, user, wholeSpace } from '../support/manifests.ts';
import { type StartingOperator, startOperator } from '../support/operator.ts';
import { installOperator } from '../support/operator-bench.ts';
import { RETRY_WAITS } from '../support/retry.ts';
import { startCloud } from '../support/served-cloud.ts';
import { createSite, type Site } from '../support/site.ts';

/*
 * The operator is killed at each request of a rotation that changes the Secret or the server, before it arrives and after it has
 * taken effect. Meanwhile a client keeps signing in with what it finds in the Secret.
 */
const POINTS = [
  { name: 'prepared', what: secretPatch, nth: 1 }, // The next password, beside the one that works.
  { name: 'put', what: (name: string) => `PUT /users/${name}`, nth: 1 },
  { name: 'promoted', what: secretPatch, nth: 2 }, // The next password becomes the password.
] as const;

/** A user for each: a second rotation would wait for what an earlier call may still undo. */
const ROTATIONS = POINTS.flatMap(({ name, what, nth }) =>
  (['before', 'after'] as const).map((when) => {
    const username = `${name}-${when}`;
    return { username, what: what(username), nth, when };
  }),
);

function secretPatch(name: string): string {
  return `PATCH secrets/${name}-connection`;
}

let api: Api;
let kubeconfig: string;

beforeAll(async () => {
  api = await openApi(adminKubeconfig());
  kubeconfig = await installOperator(api);
});

afterAll(() => api?.close());

test('a client can always sign in with the password of the Secret or the next one, although the operator is killed', {
  ...RETRY_WAITS,
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const trap = createTrap();
  const namespace = await makeNamespace();
  const cloud = await startCloud({ gate: trap.gate });
  onTestFinished(() => cloud.close());
  const proxy = await startKubeProxy(kubeconfig, namespace, trap.gate);
  onTestFinished(() => proxy.close());
  const site = createSite(api, namespace, cloud);
  await site.apply(...wholeSpace(cloud), cluster(), ...ROTATIONS.map(({ username }) => user({}, {}, username)));
  const start = () => startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace] });
  let operator: StartingOperator = await start();
  onTestFinished(() => operator.kill());
  for (const { username } of ROTATIONS) await site.until('DatabaseUser', { status: 'True' }, username);
  const found: Found = { signIns: 0, withNext: 0, failures: [] };
  for (const { username, what, nth, when } of ROTATIONS) {
    const client = watch(site, username, found);
    onTestFinished(() => client.end());
    const { password: former } = (await site.secret(`${username}-connection`))?.data ?? {};
    trap.set(what, nth, when);
    await site.annotate(username, { 'mooring.dev/rotate-at': '1' }, 'DatabaseUser');
    const at = `${when} ${what}, number ${nth}`;
    await waitUntil(trap.isSprung, { what: `${at} is asked for` });
    await operator.kill();
    operator = await start();
    const isDone = async () => {
      const { data = {} } = (await site.secret(`${username}-connection`)) ?? {};
      const { status } = (await site.get('DatabaseUser', username)) ?? {};
      return status?.lastHandledRotateAt === '1' && data['nextPassword'] === undefined ? data : undefined;
    };
    const { password = '' } = await waitUntil(isDone, { what: `the rotation is done, killed ${at}` });
    expect(cloud.simulator.passwordIs('orders', username, password), at).toBe(true);
    expect(password, at).not.toBe(former);
    await client.end();
  }
  const { signIns, withNext, failures } = found;
  expect(failures).toEqual([]);
  expect(signIns).toBeGreaterThan(ROTATIONS.length * 5);
  // The second password is there for a rotation that is interrupted between server and Secret.
  expect(withNext).toBeGreaterThan(0);
  expect(await operator.stop()).toBe(0);
});

interface Found {
  signIns: number;
  withNext: number;
  readonly failures: string[];
}

/** Signs in again and again with what the Secret holds at the time, as documented for applications. */
function watch(site: Site, username: string, found: Found) {
  let over = false;
  const secret = () => site.secret(`${username}-connection`);
  const works = async (endpoint: string | undefined, password: string | undefined) =>
    endpoint !== undefined && password !== undefined && (await site.cloud.signIn(endpoint, username, password)) === 200;
  const once = async () => {
    const before = await secret();
    const { uri, password, nextPassword } = before?.data ?? {};
    if (await works(uri, password)) return;
    if (await works(uri, nextPassword)) {
      found.withNext++;
      return;
    }
    const after = await secret();
    if (after?.resourceVersion === before?.resourceVersion)
      found.failures.push(
        `None of ${Object.keys(before?.data ?? {}).join()} works in version ${after?.resourceVersion}`,
      );
  };
  const running = (async () => {
    while (!over) {
      await once();
      found.signIns++;
      await nextTurn();
    }
  })();
  return {
    end: async () => {
      over = true;
      await running;
    },
  };
}

/** Stops the process at one request: from there on it is silent. */
function createTrap() {
  let wanted: { readonly what: string; readonly nth: number; readonly when: 'before' | 'after' } | undefined;
  let seen = 0;
  const gate: Gate = async (what, pass) => {
    if (wanted === undefined || what !== wanted.what || ++seen < wanted.nth) return pass();
    const { when } = wanted;
    wanted = undefined;
    if (when === 'after') await pass();
    return silence();
  };
  return {
    gate,
    set: (what: string, nth: number, when: 'before' | 'after') => {
      seen = 0;
      wanted = { what, nth, when };
    },
    isSprung: () => wanted === undefined,
  };
}
