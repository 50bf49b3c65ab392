import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { run } from './control-plane/run.ts';

const TOOLS = fileURLToPath(new URL('.', import.meta.url));
const LOCK = { '': { name: 'sample' }, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };

let root: string;

/** A checkout of its own with a fake npm, which records each call and does what `npm ci` does to the packages' record. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bootstrap-'));
  mkdirSync(join(root, 'tools'));
  for (const file of ['bootstrap.mjs', 'lock.mjs']) cpSync(join(TOOLS, file), join(root, 'tools', file));
  write('package.json', JSON.stringify({ type: 'module' }));
  write('program.ts', 'const args: string[] = process.argv.slice(2);\nconsole.log("ran", ...args);\n');
  writeLock(LOCK);
  writeExecutable(
    'fake/npm',
    `echo "$@" >> ${join(root, 'npm-calls')}; echo "npm warn something"; sleep "\${NPM_SECONDS:-0}"
[ -z "$NPM_FAILS" ] || { echo "npm error $NPM_FAILS" >&2; exit 1; }
mkdir -p node_modules && cp package-lock.json node_modules/.package-lock.json`,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function writeExecutable(path: string, script: string): void {
  write(path, `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, path), 0o755);
}

function writeLock(packages: object, path = 'package-lock.json'): void {
  write(path, JSON.stringify({ packages }));
}

function bootstrap(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const path = [join(root, 'fake'), process.env['PATH']].join(delimiter);
  const script = join(root, 'tools', 'bootstrap.mjs');
  return run(process.execPath, [script, ...args], { env: { ...process.env, NODE_ENV: '', PATH: path, ...env } });
}

function npmCalls(): number {
  try {
    return readFileSync(join(root, 'npm-calls'), 'utf8').trim().split('\n').length;
  } catch {
    return 0;
  }
}

describe('bootstrap installs the packages', () => {
  test('when there are none, with one line and none of npm’s own', async () => {
    const { code, stdout, stderr } = await bootstrap(['program.ts', '--flag', 'x']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ran --flag x\n' });
    expect(stderr).toBe('Installing the npm packages (only when they changed, about 15 s)\n');
    expect(npmCalls()).toBe(1);
  });

  test('not again when they are what the lock file says', async () => {
    await bootstrap(['program.ts']);
    expect((await bootstrap(['program.ts'])).stderr).toBe('');
    expect(npmCalls()).toBe(1);
  });

  test('not when npm itself was used', async () => {
    writeLock(LOCK, 'node_modules/.package-lock.json');
    await bootstrap(['program.ts']);
    expect(npmCalls()).toBe(0);
  });

  test('again when the lock file names another version', async () => {
    await bootstrap(['program.ts']);
    writeLock({ ...LOCK, 'node_modules/a': { version: '1.0.1', integrity: 'sha512-b' } });
    await bootstrap(['program.ts']);
    expect(npmCalls()).toBe(2);
  });

  test('again when one is missing, unless it is for another platform', async () => {
    writeLock(LOCK, 'node_modules/.package-lock.json');
    writeLock({ ...LOCK, 'node_modules/b': { version: '1.0.0', integrity: 'sha512-b', optional: true } });
    await bootstrap(['program.ts']);
    expect(npmCalls()).toBe(0);
    writeLock({ ...LOCK, 'node_modules/b': { version: '1.0.0', integrity: 'sha512-b' } });
    await bootstrap(['program.ts']);
    expect(npmCalls()).toBe(1);
  });

  test('once when two start at the same time', async () => {
    const env = { NPM_SECONDS: '0.5' };
    const results = await Promise.all([bootstrap(['program.ts'], env), bootstrap(['program.ts'], env)]);
    expect(results.map(({ code }) => code)).toEqual([0, 0]);
    expect(npmCalls()).toBe(1);
  });

  test('never in production, where the packages were put there on purpose', async () => {
    expect((await bootstrap(['program.ts'], { NODE_ENV: 'production' })).code).toBe(0);
    expect(npmCalls()).toBe(0);
  });

  test('and shows what npm said only when it fails', async () => {
    const { code, stderr } = await bootstrap(['program.ts'], { NPM_FAILS: 'no space left' });
    expect(code).toBe(1);
    expect(stderr).toContain('npm error no space left');
    expect(stderr).toContain('Cannot install the npm packages');
    expect(existsSync(join(root, '.mooring', 'install.lock'))).toBe(false);
  });
});

describe('bootstrap goes on in the pinned Node', () => {
  beforeEach(() => writeLock(LOCK, 'node_modules/.package-lock.json'));

  function pin(version: string, script: string): void {
    write('node_modules/node/package.json', JSON.stringify({ version }));
    writeExecutable('node_modules/node/bin/node', script);
  }

  test('when it is newer, and ends with its exit code', async () => {
    pin('999.0.0', 'echo "pinned $(basename "$1") $2 $3"; exit 7');
    const { code, stdout } = await bootstrap(['program.ts', '--flag']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: 'pinned bootstrap.mjs program.ts --flag\n' });
  });

  test('not when it is older or the same', async () => {
    for (const version of ['18.0.0', process.versions.node]) {
      pin(version, 'exit 7');
      expect((await bootstrap(['program.ts'])).stdout).toBe('ran\n');
    }
  });

  test('and dies by the signal that it died by', async () => {
    pin('999.0.0', 'kill -TERM $$');
    expect((await bootstrap(['program.ts'])).code).toBeUndefined();
  });
});

describe('the process that bootstrap leaves in between', () => {
  /** This very Node under another path stands for the pinned one. */
  beforeEach(() => {
    writeLock(LOCK, 'node_modules/.package-lock.json');
    write('node_modules/node/package.json', JSON.stringify({ version: '999.0.0' }));
    const pinned = join(root, 'node_modules', 'node', 'bin', 'node');
    mkdirSync(dirname(pinned));
    try {
      linkSync(process.execPath, pinned);
    } catch {
      copyFileSync(process.execPath, pinned); // Another file system.
    }
    write(
      'endless.ts',
      `for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => { console.log('asked to end'); process.exit(3); });
setInterval(() => {}, 1000); console.log(process.pid);`,
    );
  });

  async function startEndless(options: readonly string[] = []) {
    const program = spawn(process.execPath, [...options, join(root, 'tools', 'bootstrap.mjs'), 'endless.ts']);
    const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => (await lines.next()).value as string | undefined;
    const pid = Number(await nextLine());
    expect(pid).not.toBe(program.pid);
    return { program, nextLine };
  }

  test('passes signals on', async () => {
    const { program, nextLine } = await startEndless();
    const exited = once(program, 'exit');
    program.kill('SIGTERM');
    expect(await nextLine()).toBe('asked to end');
    expect(await exited).toEqual([3, null]);
  });

  test('passes a SIGHUP on at a terminal, too, as not only the terminal may send it', async () => {
    write('terminal.mjs', 'process.stdin.isTTY = true;');
    const { program, nextLine } = await startEndless(['--import', join(root, 'terminal.mjs')]);
    program.kill('SIGHUP');
    expect(await nextLine()).toBe('asked to end');
  });

  test('is not outlived, even when it is killed outright', async () => {
    const { program, nextLine } = await startEndless();
    program.kill('SIGKILL');
    expect(await nextLine()).toBe('asked to end');
    expect(await nextLine()).toBeUndefined();
  });
});

test('bootstrap runs the commands of installed packages', async () => {
  writeLock(LOCK, 'node_modules/.package-lock.json');
  write('node_modules/.bin/tool.mjs', 'console.log("tool", ...process.argv.slice(2));\n');
  expect((await bootstrap(['tool.mjs', 'a'])).stdout).toBe('tool a\n');
});

test('bootstrap says so when there is no such command', async () => {
  writeLock(LOCK, 'node_modules/.package-lock.json');
  const { code, stderr } = await bootstrap(['nothing']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'Cannot run "nothing": neither a command nor a file\n' });
});
