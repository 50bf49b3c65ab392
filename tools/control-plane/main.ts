// npm run control-plane: a control plane for trying things out, until Ctrl-C.
import { argumentsOrExit } from '../arguments.ts';
import { shellSetup } from './shell-setup.ts';
import { startControlPlane } from './start.ts';

const USAGE = `Usage: npm run control-plane -- [--kubeconfig FILE]

Runs etcd, a kube-apiserver and a controller manager until Ctrl-C.
  --kubeconfig FILE  use the cluster of this kubeconfig: nothing is started
`;
const { kubeconfig } = argumentsOrExit({ kubeconfig: { type: 'string' } }, USAGE);
const aborted = new AbortController();
const ended = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    aborted.abort(new Error(`Ended by ${signal}`));
    ended.resolve();
  });
}

const log = (line: string) => console.error(line);
const begin = performance.now();
try {
  const controlPlane = await startControlPlane({
    controllerManager: true,
    log,
    signal: aborted.signal,
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  log(`Ready after ${((performance.now() - begin) / 1000).toFixed(1)} s: ${controlPlane.origin}`);
  log(`API server ${controlPlane.server}`);
  log('Ctrl-C ends and removes everything. In each other terminal, for kubectl and kubectl mooring:');
  console.log(shellSetup(controlPlane));
  await ended.promise;
  await controlPlane.stop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
