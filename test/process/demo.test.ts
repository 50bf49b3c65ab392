import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { env as environment, execPath, kill } from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { adminKubeconfig, kubectl, mustKubectl, waitUntil } from '../support/control-plane.ts';
import { MooringProcess } from '../support/mooring.ts';

const TIMEOUT_MS = 180_000;
const API_TOKENS = /(write|admin)-secret-\d+/;

function demo(args: readonly string[], env?: Readonly<Record<string, string>>): MooringProcess {
  return new MooringProcess(['demo', ...args], env);
}

/** On the control plane that all tests share. */
function demoThere(args: readonly string[], env?: Readonly<Record<string, string>>): MooringProcess {
  return demo([...args, `--kubeconfig=${adminKubeconfig()}`], env);
}

describe('on a control plane of its own', () => {
  test('--once shows how a cluster becomes Ready, ends well and leaves nothing behind', async () => {
    await using process = demo(['--once']);
    expect(await process.exit(), process.output).toBe(0);
    const inOrder = [
      /✓ Kubernetes API server +\d+\.\d s {3}https:\/\/127\.0\.0\.1:\d+/,
      /✓ Simulated cloud +\d+\.\d s {3}http:\/\/127\.0\.0\.1:\d+/,
      /✓ Operator +\d+\.\d s {3}bin\/mooring controller, process \d+/,
      /\d s {2}kubectl apply +deploy\/samples\/secrets\.yaml/,
      /\d s {2}DatabaseSpace production +Ready/,
      /\d s {2}DatabaseCluster orders +Deploying \(starting\)/,
      /\d s {2}DatabaseCluster orders +Ready \(running\) +Cluster "orders" runs at/,
      /\d s {2}DatabaseUser app +Ready +User "app" signs in at/,
      /Ready after \d+\.\d s\.\n.* in Secret orders-admin/,
      /knows nothing but Secret app-connection \(deploy\/samples\/app\/app\.mjs\)\n {2}insert \$order isa order/,
      /\n {2}→ \{"customer":"Ada","total":12\.5\}\n/,
      /\$ kubectl get mooring\n(.*\n)*databasecluster\.mooring\.dev\/orders +True +Running +running/,
      /\ndatabase\.mooring\.dev\/orders +True/,
      /\ndatabaseuser\.mooring\.dev\/app +True +LoginWorks +app +app-connection/,
    ];
    let from = 0;
    for (const line of inOrder) {
      const at = process.output.slice(from).search(line);
      expect(at, `${line} in\n${process.output}`).toBeGreaterThanOrEqual(0);
      from += at;
    }
    expect(process.output).not.toMatch(API_TOKENS);
    expect(process.output).not.toContain('\u001b');
    expect(await process.leftovers()).toEqual([]);
  }, 600_000);

  test(
    'ends on Ctrl-C while it starts, and leaves nothing behind',
    async () => {
      await using process = demo([]);
      await process.prints('Starting');
      process.kill('SIGINT');
      expect(await process.exit(), process.output).toBe(0);
      expect(await process.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'everything ends with it when it is killed outright',
    async () => {
      await using process = demo(['--once']);
      await process.prints('✓ Operator');
      process.kill('SIGKILL');
      await process.exit();
      const gone = async () => (await process.leftovers()).length === 0;
      await waitUntil(gone, { what: 'processes and folders are gone' });
    },
    TIMEOUT_MS,
  );
});

describe('on a named cluster', () => {
  test(
    'the commands that it prints work, no password is shown, and Ctrl-C puts everything away',
    async () => {
      await using process = demoThere([]);
      await process.prints('Ctrl-C ends everything');
      const { output } = process;
      const isMoved = !/Simulated cloud .*http:\/\/127\.0\.0\.1:7080$/m.test(output);
      expect(output.includes('Port 7080 is in use')).toBe(isMoved);
      const namespace = /--namespace=(mooring-demo-\w+)/.exec(output)?.[1] ?? '';
      const commands = [...output.matchAll(/^ {2}((?:export|kubectl) .*)$/gm)].map((match) => match[1] ?? '');
      const [setup = '', status, explain, grow, rotate, suspend, resume, remove, exported, ...others] = commands;
      expect(others).toEqual([]);
      const shell = async (command: string | undefined) => {
        // As in a terminal outside a checkout.
        const env = { ...environment, PATH: `${dirname(execPath)}:/usr/bin:/bin` };
        const { code, stdout, stderr } = await run('sh', ['-c', `${setup}\n${command}`], { env });
        expect(code, `${command}: ${stderr}`).toBe(0);
        return stdout;
      };
      const password = await mustKubectl([
        ...['get', 'secret', 'orders-admin', `--namespace=${namespace}`],
        '--output=go-template={{.data.password | base64decode}}',
      ]);
      expect(password).toMatch(/^\w{32}$/);

      expect(await shell(status)).toContain(`─ DatabaseUser ${namespace}/app`);
      expect(await shell(explain)).toContain('Secret "orders-admin"');
      await shell(grow);
      const storage = '--output=jsonpath={.status.observed.storageSizeGB}';
      const observed = () => mustKubectl(['get', 'databasecluster', 'orders', `--namespace=${namespace}`, storage]);
      await waitUntil(async () => (await observed()) === '200', { what: 'storage has grown' });
      await process.prints('Updating (running)');
      await shell(rotate);
      await process.prints('The new password is in Secret "app-connection", and works');
      const annotate = ['annotate', 'databasecluster/orders', `--namespace=${namespace}`];
      await mustKubectl([...annotate, 'mooring.dev/paused=true']);
      await process.prints('Pausing');
      await mustKubectl([...annotate, 'mooring.dev/paused-']);
      await process.prints('Unpaused');
      await shell(suspend);
      await process.prints('Ready (suspended)');
      await shell(resume);
      await process.prints('Resuming (resuming)');
      expect(await shell(exported)).not.toContain('clusterID: orders');
      await shell(remove);
      await process.prints('Gone');
      // The cluster stays in the cloud: the printed command makes an object for it again.
      await shell(`${exported} | kubectl apply --namespace=${namespace} --filename=-`);
      const managed = ['get', 'databasecluster', 'orders', `--namespace=${namespace}`];
      const policy = '--output=jsonpath={.spec.managementPolicy}';
      expect(await mustKubectl([...managed, policy])).toBe('Observe');

      const log = /The operator's log: +(.*)/.exec(output)?.[1] ?? '';
      const told = `${process.output}${readFileSync(log, 'utf8')}`;
      expect(told).not.toContain(password);
      expect(told).not.toMatch(API_TOKENS);
      process.kill('SIGINT');
      expect(await process.exit(), process.output).toBe(0);
      expect(await process.leftovers()).toEqual([]);
      const gone = async () => (await kubectl(['get', 'namespace', namespace])).code !== 0;
      await waitUntil(gone, { what: 'its namespace is gone' });
    },
    TIMEOUT_MS,
  );

  test(
    "an operator that is killed is started again, and goes on, even if the samples' port is taken",
    async () => {
      const other = createServer().listen(7080, '127.0.0.1');
      onTestFinished(() => void other.close());
      // Somebody else may have taken it already.
      await new Promise<void>((resolve) => other.once('listening', resolve).once('error', () => resolve()));
      await using process = demoThere([]);
      await process.prints('Ctrl-C ends everything');
      const [, moved] = /✓ Simulated cloud .* {2}(http:\/\/\S+), as port 7080 is in use\n/.exec(process.output) ?? [];
      expect(process.output).toContain(
        `Port 7080 is in use: the cloud is at ${moved}.\nDo not apply deploy/samples/space.yaml as it is: it names 7080.`,
      );
      const namespace = /--namespace=(mooring-demo-\w+)/.exec(process.output)?.[1] ?? '';
      const pid = Number(/kill -9 (\d+)/.exec(process.output)?.[1]);
      kill(pid, 'SIGKILL');
      await process.prints(`The operator, process ${pid}, has ended`);
      await process.prints('It is started again');
      const suspend = ['databasecluster', 'orders', '--type=merge', '--patch={"spec":{"state":"Suspended"}}'];
      await mustKubectl(['patch', ...suspend, `--namespace=${namespace}`]);
      await process.prints('Ready (suspended)');
      process.kill('SIGINT');
      expect(await process.exit(), process.output).toBe(0);
      expect(await process.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    '--once fails with the reason when a person must act',
    async () => {
      await using process = demoThere(['--once'], { MOORING_ALLOWED_BASE_URLS: 'https://cloud.example.com' });
      expect(await process.exit(), process.output).toBe(1);
      expect(process.output).toContain('Not Ready: a person must act');
      expect(process.output).toMatch(/DatabaseSpace production: BaseURLNotAllowed: baseURL .+/);
      expect(process.output).toMatch(/The last lines of the operator's log:\n {2}\{"level":"/);
      expect(process.output).not.toMatch(API_TOKENS);
      expect(await process.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    '--once fails with what is still missing when time is over',
    async () => {
      await using process = demoThere(['--once', '--timeout=500ms']);
      expect(await process.exit(), process.output).toBe(1);
      expect(process.output).toContain(
        'Not Ready: time is up (0.5 s)\n  DatabaseCluster orders: Deploying (starting): ',
      );
      expect(await process.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "fails with the operator's last words if it does not start",
    async () => {
      await using process = demoThere(['--once'], { MOORING_CONCURRENCY: 'many' });
      expect(await process.exit(), process.output).toBe(1);
      expect(process.output).toMatch(/✗ Operator/);
      expect(process.output).toMatch(/The demo failed\. .*\n.*MOORING_CONCURRENCY/);
      expect(await process.leftovers()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

test('fails with the reason if the named cluster does not exist', async () => {
  await using process = demo(['--once', '--kubeconfig=/nowhere/kubeconfig']);
  expect(await process.exit()).toBe(1);
  expect(process.output).toContain('Cannot use kubeconfig "/nowhere/kubeconfig": no such file');
});

test('shows its usage', async () => {
  await using help = demo(['--help']);
  expect(await help.exit()).toBe(0);
  expect(help.output).toContain('--once');
  await using wrong = demo(['--twice']);
  expect(await wrong.exit()).toBe(2);
  expect(wrong.output).toContain('mooring demo --help');
});
