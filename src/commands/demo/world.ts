import { readFileSync } from 'node:fs';
import type { ControlPlane } from '../../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../../tools/control-plane/start.ts';
import type { Clock } from '../../base/clock.ts';
import { GROUP } from '../../base/group.ts';
import { systemRandom, uuid } from '../../base/random.ts';
import { createUndiciTransport } from '../../http/undici-transport.ts';
import { definitions } from '../../kinds/definitions.ts';
import { ABANDON } from '../../kube/annotations.ts';
import type { AnyObject } from '../../kube/api.ts';
import { createKubeClient } from '../../kube/client.ts';
import { loadKubeConnection } from '../../kube/connection/config.ts';
import type { KubeObject } from '../../kube/object.ts';
import { resourceOf } from '../../plugin/kinds.ts';
import { Informer } from '../../runtime/informer.ts';
import { startSimulatorServer } from '../../simulator/hosting/http-server.ts';
import { SIMULATE_KNOBS } from '../../simulator/knobs.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { VERSION } from '../../version.ts';
import { createKubectl, type Environment, fileOfProject, type Kubectl } from './cluster-access.ts';
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts';
import type { Screen } from './screen.ts';

/** Everything that the demo runs on. */
export interface World {
  readonly controlPlane: ControlPlane;
  readonly kubectl: Kubectl;
  readonly namespace: string;
  readonly cloudURL: string;
  /** The one that runs now, or ran last. */
  readonly operator: OperatorProcess;
  /** Starts another one if that has ended, as Kubernetes would; a line says so. */
  restartOperator(): Promise<void>;
}

export interface WorldOptions {
  /** The kubeconfig of a cluster to use; undefined: one of our own is started. */
  readonly kubeconfig: string | undefined;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly screen: Screen;
  /** Ends what was started, in reverse. */
  readonly stack: AsyncDisposableStack;
}

/** The base URL in the samples: where `mooring simulate` listens unless told otherwise. */
export const SAMPLE_URL = 'http://127.0.0.1:7080';
const SERVICE_ACCOUNT = { namespace: 'mooring-system', name: 'mooring' };

/** Starts everything, with a line for each thing. What was started is on the stack even if it throws. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const { env, clock, signal, screen, stack, kubeconfig } = options;
  screen.heading('Starting');
  const controlPlane = await screen.step(
    'Kubernetes API server',
    () =>
      startControlPlane({
        controllerManager: true,
        log: screen.note,
        signal,
        env: { ...env },
        ...(kubeconfig === undefined ? {} : { kubeconfig }),
      }),
    ({ server, origin }) => `${server}, ${origin}`,
  );
  stack.defer(() => controlPlane.stop());
  const borrowed = kubeconfig !== undefined;
  const namespace = borrowed ? `mooring-demo-${uuid(systemRandom).slice(0, 8)}` : 'default';
  const kubectl = createKubectl(controlPlane, env);
  await screen.step(
    'Resources and roles',
    () => install(kubectl, signal),
    () => 'crds/, deploy/base/rbac.yaml',
  );
  const cloudURL = await screen.step(
    'Simulated cloud',
    () => startCloud(options),
    (url) => (url === SAMPLE_URL ? url : `${url}, as port ${new URL(SAMPLE_URL).port} is in use`),
  );
  if (borrowed) await borrow(kubectl, namespace, options);
  const startOperator = () =>
    screen.step(
      'Operator',
      async () => {
        const own = await controlPlane.kubeconfigFor(SERVICE_ACCOUNT);
        return startOperatorProcess({ kubeconfig: own, namespace, env, clock, signal });
      },
      ({ pid }) => `bin/mooring controller, process ${pid}`,
    );
  let operator = await startOperator();
  stack.defer(() => operator.stop());
  if (borrowed) stack.defer(() => giveBack(kubectl, namespace));
  return {
    controlPlane,
    kubectl,
    namespace,
    cloudURL,
    get operator() {
      return operator;
    },
    restartOperator: async () => {
      await operator.stop();
      operator = await startOperator();
    },
  };
}

async function install(kubectl: Kubectl, signal: AbortSignal): Promise<void> {
  const files = ['crds', 'deploy/base/namespace.yaml', 'deploy/base/rbac.yaml'].map(
    (path) => `--filename=${fileOfProject(path)}`,
  );
  await kubectl(['apply', '--server-side', '--force-conflicts', ...files], { signal });
  const names = definitions.map(({ plural }) => `customresourcedefinition/${plural}.${GROUP}`);
  await kubectl(['wait', '--for=condition=Established', '--timeout=30s', ...names], { signal });
}

/** Starts the cloud where the samples look for it, so that they can be applied as they are; elsewhere if that is taken. */
async function startCloud({ clock, stack }: WorldOptions): Promise<string> {
  const simulator = createSimulator({ clock, random: systemRandom, dialect: 'document', knobs: SIMULATE_KNOBS });
  const server = await startSimulatorServer(simulator, { port: Number(new URL(SAMPLE_URL).port) }).catch((error) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return startSimulatorServer(simulator, { port: 0 });
  });
  stack.defer(() => server.close());
  return server.baseURL;
}

/** In somebody's cluster, the demo keeps to a namespace of its own. */
async function borrow(kubectl: Kubectl, namespace: string, { signal, stack }: WorldOptions): Promise<void> {
  stack.defer(async () => {
    await kubectl(['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found']);
  });
  await kubectl(['create', 'namespace', namespace], { signal });
}

/** Runs while the operator is still there to let go of the objects. One that it cannot let go of is not worth waiting for. */
export async function giveBack(kubectl: Kubectl, namespace: string): Promise<void> {
  // With the group, as others have a kind Database too.
  const plurals = definitions.map(({ plural }) => `${plural}.${GROUP}`).toReversed();
  const inNamespace = `--namespace=${namespace}`;
  for (const plural of plurals) {
    await kubectl(['annotate', plural, '--all', '--overwrite', `${ABANDON}=true`, inNamespace]);
    await kubectl(['delete', plural, '--all', '--timeout=10s', inNamespace]);
  }
}

/**
 * Calls back with each change of a resource of ours in the namespace. Resolves when the first look is over; the watch goes on until
 * the stack ends it.
 */
export async function watchResources(
  { controlPlane, namespace }: World,
  clock: Clock,
  stack: AsyncDisposableStack,
  onChange: (before: KubeObject | undefined, after: KubeObject | undefined) => void,
): Promise<void> {
  const connection = await loadKubeConnection(clock, controlPlane.kubeconfig);
  const transport = createUndiciTransport(connection.tls);
  const api = createKubeClient({
    server: connection.server,
    transport,
    authorize: connection.authorize,
    userAgent: `mooring-demo/${VERSION}`,
  });
  const informers = definitions.map((definition) => {
    const informer = new Informer<KubeObject>({
      api,
      clock,
      random: systemRandom,
      resource: resourceOf(definition),
      namespaces: [namespace],
      transform: withKind(definition.kind),
      onFailure: () => {}, // It goes on by itself; if the API server is gone, other things show it.
    });
    informer.onChange((_key, before, after) => onChange(before, after));
    return informer;
  });
  const over = new AbortController();
  const watching = Promise.all(informers.map((informer) => informer.run(over.signal)));
  stack.defer(async () => {
    over.abort();
    await watching;
    await transport.close();
  });
  await Promise.all(informers.map((informer) => informer.synced));
}

/** Objects in a list do not name their kind. The cast is the parse border: whoever shows the status parses it. */
function withKind(kind: string): (object: AnyObject) => KubeObject {
  return (object) => ({ ...(object as AnyObject & KubeObject), kind });
}

export interface Manifest {
  readonly path: string;
  readonly text: string;
  /** Kind and name of each object in it. */
  readonly objects: readonly string[];
}

/** Returns the samples in the order in which a user would write them, with the simulated cloud's URL. */
export function sampleManifests(cloudURL: string): readonly Manifest[] {
  return ['secrets', 'space', 'cluster', 'user', 'database'].map((name) => {
    const path = `deploy/samples/${name}.yaml`;
    const text = readFileSync(fileOfProject(path), 'utf8').replaceAll(SAMPLE_URL, cloudURL);
    const objects = [...text.matchAll(/^kind: (\w+)\nmetadata:\n {2}name: (\S+)$/gm)].map(
      ([, kind, name]) => `${kind} ${name}`,
    );
    return { path, text, objects };
  });
}
