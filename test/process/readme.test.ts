import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { runKubectl } from '../../tools/control-plane/kubeconfig.ts';
import { run } from '../../tools/control-plane/run.ts';
import { makeNamespace } from '../support/control-plane.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';

/** Where the samples look for it. */
const SIMULATOR_PORT = 7080;

test("the README's commands work by hand, one after the other", async () => {
  const { directory, env, port } = await shellOfUser();
  const printed: string[] = [];
  for (const { commands, test: how } of shellBlocks(readDocument('README.md'))) {
    const command = commands.replace('mooring simulate', `mooring simulate --port=${port}`);
    if (how === 'in the background') runInBackground(command, directory, env);
    if (how !== 'in order') continue;
    const { code, stdout, stderr } = await run('sh', ['-e', '-c', commands], {
      env,
      cwd: directory,
      timeoutMs: 120_000,
    });
    expect(code, `${commands}\n${stdout}${stderr}`).toBe(0);
    printed.push(stdout);
  }
  const all = printed.join('\n');
  expect(all).toMatch(/databasecluster\.mooring\.dev\/orders +True +Running +running/);
  expect(printed).toContain('admin');
  expect(all).toContain('databasecluster.mooring.dev "orders" deleted');
});

/** A folder that looks like a checkout, and a kubeconfig of its own whose current namespace is a new one. */
async function shellOfUser() {
  const directory = mkdtempSync(join(tmpdir(), 'readme-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const name of ['bin', 'crds']) symlinkSync(join(ROOT, name), join(directory, name));
  cpSync(join(ROOT, 'deploy'), join(directory, 'deploy'), { recursive: true });
  // The usual port may be taken here.
  const port = await freePort();
  const space = join(directory, 'deploy/samples/space.yaml');
  const text = readFileSync(space, 'utf8');
  expect(text).toContain(`127.0.0.1:${SIMULATOR_PORT}`);
  writeFileSync(space, text.replace(`127.0.0.1:${SIMULATOR_PORT}`, `127.0.0.1:${port}`));
  const namespace = await makeNamespace();
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
    // Others work on the same API server and the same machine meanwhile.
    MOORING_NAMESPACES: namespace,
    MOORING_METRICS_ADDRESS: '127.0.0.1:0',
    MOORING_HEALTH_ADDRESS: '127.0.0.1:0',
  };
  return { directory, env, port };
}

/** As in a terminal of its own; ends with the test, as with Ctrl-C. */
function runInBackground(command: string, cwd: string, env: NodeJS.ProcessEnv): void {
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  onTestFinished(async () => {
    child.kill('SIGINT');
    await ended;
    expect(child.exitCode, `${command}\n${output}`).toBe(0);
  });
}

/** A loopback port that nobody listens on at the moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
