import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, inject } from 'vitest';
import { freePort } from '../../tools/control-plane/free-port.ts';
import { runKubectl } from '../../tools/control-plane/kubeconfig.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { ROOT } from './readme.ts';

/** Where the samples look for the simulated cloud. */
const SIMULATOR_PORT = 7080;

/** A folder that looks like a checkout, and a terminal in it whose current namespace is the given one. */
export interface UserShell {
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  /** The port on which the samples look for a cloud. */
  readonly simulatorPort: number;
  /** Runs shell commands to their end. */
  run(commands: string): Promise<RunResult>;
  /** Runs a command as in another terminal; `end` ends it, as Ctrl-C would. */
  background(command: string): void;
  /** Ends everything in the background, and removes the folder. Fails if something did not end well. */
  end(): Promise<void>;
}

export async function userShell(namespace: string): Promise<UserShell> {
  const directory = mkdtempSync(join(tmpdir(), 'user-'));
  for (const name of ['bin', 'crds']) symlinkSync(join(ROOT, name), join(directory, name));
  cpSync(join(ROOT, 'deploy'), join(directory, 'deploy'), { recursive: true });
  // The usual port may be taken on this machine.
  const simulatorPort = await freePort();
  const space = join(directory, 'deploy/samples/space.yaml');
  const text = readFileSync(space, 'utf8');
  expect(text).toContain(`127.0.0.1:${SIMULATOR_PORT}`);
  writeFileSync(space, text.replace(`127.0.0.1:${SIMULATOR_PORT}`, `127.0.0.1:${simulatorPort}`));
  const shared = inject('controlPlane');
  const kubeconfig = join(directory, 'kubeconfig');
  copyFileSync(shared.kubeconfig, kubeconfig);
  await runKubectl({ ...shared, kubeconfig }, ['config', 'set-context', '--current', `--namespace=${namespace}`]);
  const folders = [dirname(shared.kubectl), dirname(process.execPath), process.env['PATH'] ?? ''];
  const env = {
    ...process.env,
    PATH: folders.join(delimiter),
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(directory, 'kubectl-cache'),
    // Other tests use the same API server and machine at the same time.
    MOORING_NAMESPACES: namespace,
    MOORING_METRICS_ADDRESS: '127.0.0.1:0',
    MOORING_HEALTH_ADDRESS: '127.0.0.1:0',
  };
  const ends: (() => Promise<void>)[] = [];
  return {
    directory,
    env,
    simulatorPort,
    run: (commands) => run('sh', ['-e', '-c', commands], { env, cwd: directory, timeoutMs: 240_000 }),
    background: (command) => ends.push(runInBackground(command, directory, env)),
    async end() {
      for (const end of ends.reverse()) await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function runInBackground(command: string, cwd: string, env: NodeJS.ProcessEnv): () => Promise<void> {
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return async () => {
    child.kill('SIGINT');
    await ended;
    expect(child.exitCode, `${command}\n${output}`).toBe(0);
  };
}
