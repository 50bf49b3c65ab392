// From a bare checkout to a running program: installs the npm packages if they are missing or out of date, then
// continues in the pinned Node if that is newer than the current one. Plain JavaScript for Node 18 and later,
// because it runs before anything else can.
//
//   node tools/bootstrap.mjs <file, or command of a package> [arguments…]
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import * as module from 'node:module';
import { delimiter, join, sep } from 'node:path';
import { argv, env, execPath, exit, pid, versions } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Calls `run` once everything is in place; `entry` is the URL of the started script, in case it must be started again. */
export async function bootstrap(entry, run) {
  await install();
  const pinned = newerNode();
  if (pinned !== undefined) return runAgain(pinned, [fileURLToPath(entry), ...argv.slice(2)]);
  endWithParent();
  if (!process.features.typescript) {
    fail(
      `Mooring needs Node 22.19 or later, this is ${versions.node}, and the pinned one in node_modules is missing.\n` +
        'Install scripts may be off: run "npm rebuild node --ignore-scripts=false", or use a newer Node.',
    );
  }
  if (isCheckout()) reuseCompiledCode(join(ROOT, '.mooring', 'compile-cache'));
  await run();
}

async function install() {
  if (!isCheckout() || isInstalled()) return;
  const onWait = () => say('Waiting for another process that installs the npm packages');
  await withLock(join(ROOT, '.mooring', 'install.lock'), onWait, async () => {
    if (isInstalled()) return;
    say('Installing the npm packages (only when they changed, about 15 s)');
    const { code, output } = await npmCi();
    if (code !== 0) fail(`${output}Cannot install the npm packages: "npm ci" failed, see above`);
  });
}

/** Saves half the time and a fifth of the memory of a start, of this process and of those that it starts. */
function reuseCompiledCode(folder) {
  module.enableCompileCache?.(folder);
  env.NODE_COMPILE_CACHE ??= folder;
}

/** Reports whether this is neither a package that npm installed nor a deployed copy. */
function isCheckout() {
  return (
    !ROOT.split(sep).includes('node_modules') &&
    existsSync(join(ROOT, 'package-lock.json')) &&
    env.NODE_ENV !== 'production'
  );
}

/** Reports whether node_modules holds what package-lock.json says, by the note that npm leaves there when it is done. */
function isInstalled() {
  const wanted = packagesOf(join(ROOT, 'package-lock.json'));
  const present = packagesOf(join(ROOT, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, { version, integrity, optional }]) => {
    const found = present[path];
    // Missing optional packages are for other platforms.
    if (path === '' || (found === undefined && optional)) return true;
    return found?.version === version && (integrity === undefined || found.integrity === integrity);
  });
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Shows npm's output only if it fails: its warnings (other engines, install scripts) do not matter to people who run this. */
function npmCi() {
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  // Under "npm run", the first folders of PATH hold the Node that is about to be replaced.
  const path = (env.PATH ?? '').split(delimiter).filter((folder) => !folder.split(sep).includes('node_modules'));
  return new Promise((resolve) => {
    const child = spawn('npm', args, { cwd: ROOT, env: { ...env, PATH: path.join(delimiter) } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.on('error', (error) => resolve({ code: 1, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** The pinned Node, if it is newer than this one. */
function newerNode() {
  const folder = join(ROOT, 'node_modules', 'node');
  const node = join(folder, 'bin', 'node');
  if (!existsSync(node) || realpathSync(node) === realpathSync(execPath)) return undefined;
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return isNewer(version, versions.node) ? node : undefined;
}

function isNewer(one, other) {
  const [a, b] = [one, other].map((version) => version.split(/[.-]/, 3).map(Number));
  const index = a.findIndex((part, i) => part !== b[i]);
  return index >= 0 && a[index] > b[index];
}

/** Turns this process into a stand-in for the one it starts: it passes signals on, and ends as that one ends. */
function runAgain(node, args) {
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  const atTerminal = [0, 1, 2].some((fd) => process[['stdin', 'stdout', 'stderr'][fd]].isTTY);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends SIGINT to both processes by itself. A second SIGHUP, which it may send too, changes nothing.
      if (!atTerminal || signal !== 'SIGINT') child.kill(signal);
    });
  }
  child.on('error', (error) => fail(`Cannot start the pinned Node ${node}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(pid, signal);
  });
}

/** Ends with the stand-in: even if that is killed outright, the channel to it closes. */
function endWithParent() {
  if (!process.channel) return;
  process.on('disconnect', () => process.kill(pid, 'SIGTERM'));
  process.channel.unref();
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(message) {
  say(message);
  exit(1);
}

/** Finds a command of an installed package, or a file of the project. */
function scriptOf(name) {
  const script = [join(ROOT, 'node_modules', '.bin', name), join(ROOT, name)].find((path) => existsSync(path));
  return script === undefined ? fail(`Cannot run "${name}": neither a command nor a file`) : realpathSync(script);
}

if (existsSync(argv[1] ?? '') && realpathSync(argv[1]) === fileURLToPath(import.meta.url)) {
  await bootstrap(import.meta.url, () => {
    const [name, ...args] = argv.slice(2);
    const script = scriptOf(name ?? '');
    process.argv = [execPath, script, ...args];
    return import(pathToFileURL(script));
  });
}
