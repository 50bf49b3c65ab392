import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import { withTimeout } from '../../base/with-timeout.ts';
import type { KubeConnection, LoginHeaders } from './connection.ts';

/** Where the kubelet puts a pod's service account. */
export const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Returns how a pod reaches the API server: what client-go calls in-cluster configuration. `host` and `port` are KUBERNETES_SERVICE_HOST
 * and KUBERNETES_SERVICE_PORT. Throws if the pod has no service account token.
 */
export async function loadPodConnection(
  clock: Clock,
  host: string,
  port: string,
  folder: string = SERVICE_ACCOUNT,
): Promise<KubeConnection> {
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch((error: unknown) => {
      const remedy = 'let its pod mount one (automountServiceAccountToken), or name a kubeconfig';
      const message = `There is no kubeconfig, and no service account can be read (${messageOf(error)}): ${remedy}`;
      throw new Error(message, { cause: error });
    });
  let ca = '';
  const readLogin = async () => {
    const [token, certificates] = await Promise.all([read('token'), read('ca.crt')]);
    // The kubelet renews both, and the API server's CA may change while the pod runs.
    ca = certificates;
    return { authorization: `Bearer ${token.trim()}` };
  };
  const [namespace, initial] = await Promise.all([read('namespace'), readLogin()]);
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    inPod: true,
    namespace: namespace.trim(),
    tls: { ca: () => ca },
    authorize: renewed(clock, initial, readLogin),
  };
}

/** How long a login is used before the next attempt to read it: the kubelet renews token files, and a plugin takes time. */
const AUTHORIZATION_AGE_MS = 30_000;
/** How long requests wait for a login to be read again that nobody has refused: a plugin may hang, and the old login may still be good. */
const PATIENCE_MS = 5_000;

/**
 * Returns what `read` gave last, read again when it is old or when the server refused it, which `read` is told. If that fails or takes long,
 * the old login is kept, as it may still be good; but one that the server has refused is waited for, and rejects as `read` did.
 */
export function renewed(
  clock: Clock,
  initial: LoginHeaders,
  read: (refused: boolean) => Promise<LoginHeaders>,
): KubeConnection['authorize'] {
  // Many callers find that at the same time, and each read may be a plugin that asks somebody to log in.
  const reading = { old: new SingleFlight<LoginHeaders>(), refused: new SingleFlight<LoginHeaders>() };
  let headers = initial;
  let triedAt = clock.monotonic();
  const readAgain = async (refused: boolean) => {
    headers = await reading[refused ? 'refused' : 'old'].run(() => read(refused));
  };
  return async (renew) => {
    if (renew || clock.monotonic() - triedAt > AUTHORIZATION_AGE_MS) {
      try {
        await (renew ? readAgain(true) : withTimeout(clock, PATIENCE_MS, () => readAgain(false)));
        triedAt = clock.monotonic();
      } catch (error) {
        // A refused login is read again as soon as possible.
        triedAt = renew ? Number.NEGATIVE_INFINITY : clock.monotonic();
        if (renew) throw error;
      }
    }
    return headers;
  };
}
