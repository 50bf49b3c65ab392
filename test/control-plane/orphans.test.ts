import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cacheFolder } from '../../tools/control-plane/cache.ts';
import { run } from '../../tools/control-plane/run.ts';
import { waitUntil } from '../support/control-plane.ts';
import { isAlive } from '../support/processes.ts';

const PARENT = fileURLToPath(new URL('parent.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../tools/control-plane/main.ts', import.meta.url));
const CANARY = 'current-context: nobody-touches-this\n';

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'home-'));
  mkdirSync(join(home, '.kube'));
  writeFileSync(join(home, '.kube', 'config'), CANARY);
  writeFileSync(join(home, 'canary'), CANARY);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function startProgram(script: string, ...args: string[]): ChildProcess {
  const env = { ...process.env, HOME: home, KUBECONFIG: join(home, 'canary'), MOORING_CACHE: cacheFolder(process.env) };
  return spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function firstLine(program: ChildProcess): Promise<string> {
  if (!program.stdout) throw new Error('The program has no output');
  for await (const line of createInterface(program.stdout)) return line;
  throw new Error('The program ended before it said anything');
}

interface Started {
  readonly directory: string;
  readonly pids: Readonly<Record<string, number>>;
}

async function untilGone({ directory, pids }: Started): Promise<void> {
  const isGone = () => !existsSync(directory) && !Object.values(pids).some(isAlive);
  await waitUntil(isGone, { what: `the end of ${JSON.stringify(pids)} and of ${directory}` });
}

test('a parent that is killed outright leaves neither process nor folder', async () => {
  const program = startProgram(PARENT);
  const started: Started = JSON.parse(await firstLine(program));
  expect(Object.values(started.pids).every(isAlive)).toBe(true);
  program.kill('SIGKILL');
  await untilGone(started);
});

test('a parent that crashes leaves neither process nor folder', async () => {
  await untilGone(JSON.parse(await firstLine(startProgram(PARENT, 'throw'))));
});

test('a guard that is killed outright takes its processes and its folder along', async () => {
  const program = startProgram(PARENT);
  const started: Started = JSON.parse(await firstLine(program));
  process.kill(started.pids['guard'] ?? 0, 'SIGKILL');
  await untilGone(started);
});

test('the command prints what a terminal needs, ends cleanly at Ctrl-C and never touches the user’s kubeconfig', async () => {
  const program = startProgram(MAIN);
  const line = await firstLine(program);
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const asked = await run(
    'sh',
    ['-c', `${line}\necho "$KUBECONFIG"\nkubectl mooring version\nkubectl get namespaces`],
    { env },
  );
  expect(asked.stderr).toBe('');
  const [kubeconfig = '', version] = asked.stdout.split('\n');
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect(asked.stdout).toContain('kube-system');
  expect(readFileSync(kubeconfig, 'utf8')).toContain('https://127.0.0.1:');
  const exited = new Promise((resolve) => program.once('exit', resolve));
  program.kill('SIGINT');
  expect(await exited).toBe(0);
  expect(existsSync(kubeconfig)).toBe(false);
  expect(readFileSync(join(home, 'canary'), 'utf8')).toBe(CANARY);
  expect(readdirSync(join(home, '.kube'))).toEqual(['config']);
  expect(readFileSync(join(home, '.kube', 'config'), 'utf8')).toBe(CANARY);
});
