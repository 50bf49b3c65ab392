import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '../../src/commands/table.ts';
import { run } from '../../tools/control-plane/run.ts';

/* What only the whole program shows: arguments and pipes. */

const MOORING = fileURLToPath(new URL('../../bin/mooring', import.meta.url));

test('A reader that stops, such as head, ends a command silently', async () => {
  const child = spawn(process.execPath, [MOORING, 'crds'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const [complaint] = await Promise.all([text(child.stderr), once(child, 'close')]);
  expect(complaint).toBe('');
  expect(child.exitCode).toBe(141);
});

test.skipIf(!existsSync('/dev/full')).each([['crds'], ['--version'], ['--help']])(
  'A full disk is reported in one line: %s',
  async (command) => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [MOORING, command], { stdio: ['ignore', full, 'pipe'] });
    const [complaint] = await Promise.all([child.stderr && text(child.stderr), once(child, 'close')]);
    closeSync(full);
    expect(complaint).toBe('mooring cannot write its output: ENOSPC: no space left on device, write\n');
    expect(child.exitCode).toBe(1);
  },
);

test('An unknown command is reported in two lines, with the one that was probably meant', async () => {
  expect(await run(process.execPath, [MOORING, 'pln'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'There is no command "pln". Did you mean plan?\nTry mooring --help.\n',
  });
});

test.each([[['--namespace', 'shop']], [['-n=shop']]])('Flags of the connection are no command: %s', async (argv) => {
  const stderr = 'Name a command.\nTry mooring --help.\n';
  expect(await run(process.execPath, [MOORING, ...argv])).toEqual({ code: 2, stdout: '', stderr });
});

test.each([
  { argv: ['--token=s3cret', 'status'], says: 'There is no command "--token".' },
  { argv: ['status', '--token=s3cret'], says: "Unknown option '--token'." },
  { argv: ['status', '--token', 's3cret'], says: "Unknown option '--token'." },
])("A flag of kubectl's that is not ours is named without its value: $argv", async ({ argv, says }) => {
  const { code, stderr } = await run(process.execPath, [MOORING, ...argv]);
  expect(stderr).toContain(`${says} kubectl has --token: here, write it into a context of a kubeconfig\nTry`);
  expect(stderr).not.toContain('s3cret');
  expect(code).toBe(2);
});

test('A copy without its npm packages says which one is missing, and how to install them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bare-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const name of ['src', 'package.json']) cpSync(join(root, name), join(folder, name), { recursive: true });
  expect(await run(process.execPath, [join(folder, 'src/main.ts'), 'status'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `mooring status needs the npm package zod, which is not installed: run "npm install --omit=dev" in ${folder}/\n`,
  });
});

test('Flags of the connection may come before the command', async () => {
  const missing = '/no/such/kubeconfig';
  const before = await run(process.execPath, [MOORING, `--kubeconfig=${missing}`, '-n', 'shop', 'status']);
  expect(before).toMatchObject({ code: 1, stderr: expect.stringContaining(`There is no kubeconfig ${missing}`) });
});

test('Help fits into a narrow window', async () => {
  const widths = await Promise.all(
    Object.keys(COMMANDS).map(async (name) => {
      const command = await COMMANDS[name]?.load();
      let shown = '';
      const write = (text: string) => {
        shown += text;
      };
      const { signal } = new AbortController();
      if (!name.startsWith('_')) await command?.(['--help'], { stdout: write, stderr: write, env: {}, signal });
      return [name, Math.max(...shown.split('\n').map((line) => line.length))] as const;
    }),
  );
  expect(widths.filter(([, width]) => width > 100)).toEqual([]);
});
