// npm run control-plane: a control plane to try things on, until Ctrl-C.
import { parseArgs } from 'node:util';
import { shellSetup } from './shell-setup.ts';
import { startControlPlane } from './start.ts';

const USAGE = `Usage: npm run control-plane -- [--kubeconfig FILE]

Runs etcd, a kube-apiserver and a controller manager until Ctrl-C.
  --kubeconfig FILE  the cluster of this kubeconfig serves instead: nothing is started
`;
const { kubeconfig } = argumentsOrExit();
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
  log('Everything ends and is removed with Ctrl-C. In each other terminal, for kubectl and kubectl mooring:');
  console.log(shellSetup(controlPlane));
  await ended.promise;
  await controlPlane.stop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function argumentsOrExit(): { readonly kubeconfig?: string | undefined } {
  try {
    const { values } = parseArgs({
      options: { kubeconfig: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
    if (values.help !== true) return values;
    process.stdout.write(USAGE);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
  return process.exit(0);
}
