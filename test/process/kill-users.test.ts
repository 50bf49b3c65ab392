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
const SECRET = 'PATCH secrets/app-connection';
const POINTS = [
  { what: SECRET, nth: 1 }, // The next password, beside the one that works.
  { what: 'PUT /users/app', nth: 1 },
  { what: SECRET, nth: 2 }, // The next password becomes the password.
] as const;

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
  await site.apply(...wholeSpace(cloud), cluster(), user());
  const start = () => startOperator({ kubeconfig: proxy.kubeconfig, namespaces: [namespace] });
  let operator: StartingOperator = await start();
  onTestFinished(() => operator.kill());
  await site.until('DatabaseUser', { status: 'True' });
  const client = watch(site);
  const passwords = new Set<string>();
  let asked = 0;
  for (const point of POINTS) {
    for (const when of ['before', 'after'] as const) {
      asked++;
      trap.set(point.what, point.nth, when);
      await site.annotate('app', { 'mooring.dev/rotate-at': String(asked) }, 'DatabaseUser');
      const at = `${when} ${point.what}, number ${point.nth}`;
      await waitUntil(trap.isSprung, { what: `${at} is asked for` });
      await operator.kill();
      operator = await start();
      const isDone = async () => {
        const { data = {} } = (await site.secret('app-connection')) ?? {};
        const { status } = (await site.get('DatabaseUser')) ?? {};
        return status?.lastHandledRotateAt === String(asked) && data['nextPassword'] === undefined ? data : undefined;
      };
      const { password = '' } = await waitUntil(isDone, { what: `rotation ${asked} is done, killed ${at}` });
      expect(cloud.simulator.passwordIs('orders', 'app', password), at).toBe(true);
      expect(passwords.has(password), at).toBe(false);
      passwords.add(password);
    }
  }
  const { signIns, withNext, failures } = await client.end();
  expect(failures).toEqual([]);
  expect(signIns).toBeGreaterThan(POINTS.length * 10);
  // The second password is there for a rotation that is interrupted between server and Secret.
  expect(withNext).toBeGreaterThan(0);
  expect(await operator.stop()).toBe(0);
});

/** Signs in again and again with what the Secret holds at the time, as documented for applications. */
function watch(site: Site) {
  const found = { signIns: 0, withNext: 0, failures: [] as string[] };
  let over = false;
  const works = async (endpoint: string | undefined, password: string | undefined) =>
    endpoint !== undefined && password !== undefined && (await site.cloud.signIn(endpoint, 'app', password)) === 200;
  const once = async () => {
    const before = await site.secret('app-connection');
    const { uri, password, nextPassword } = before?.data ?? {};
    if (await works(uri, password)) return;
    if (await works(uri, nextPassword)) {
      found.withNext++;
      return;
    }
    const after = await site.secret('app-connection');
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
      return found;
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
