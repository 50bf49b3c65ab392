// The guard: a process that owns the control plane's processes and ends with its parent, however the parent ends.
//
//   parent ──(IPC channel)──► guard ──► etcd, kube-apiserver, …, each leading a process group of its own
//
// The channel closes when the parent exits, crashes or is killed; no signal is needed. The guard runs in a session of
// its own, so Ctrl-C in the terminal reaches the parent only. It then kills its children with SIGKILL (their data is
// thrown away), runs the commands left for the end, removes the folder it was given, and exits.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync } from 'node:fs';
import type { CommandLine, FromGuard, ToGuard } from './guard-messages.ts';

const END_COMMAND_TIMEOUT_MS = 60_000;

const directory = process.argv[2];
if (directory === undefined || process.send === undefined) {
  console.error('The guard is started by the control plane, not by hand');
  process.exit(2);
}

const children = new Map<string, ChildProcess>();
const atEnd: CommandLine[] = [];
let ending = false;

function tell(message: FromGuard): void {
  if (process.connected) process.send?.(message);
}

function start({ name, command, args, env, cwd, log }: Extract<ToGuard, { type: 'start' }>): void {
  const output = openSync(log, 'a', 0o600);
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  child.on('error', (error) => tell({ type: 'failed', name, message: error.message }));
  if (child.pid === undefined) return;
  children.set(name, child);
  child.on('exit', (code, signal) => {
    if (children.get(name) === child) children.delete(name);
    tell({ type: 'exited', name, code, signal });
  });
  tell({ type: 'started', name, pid: child.pid });
}

/** Signals the whole group: a child may have children (the Go compiler has). */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has already ended.
  }
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  const running = [...children.values()];
  const exits = running.map((child) => once(child, 'exit'));
  for (const child of running) signalGroup(child, 'SIGKILL');
  await Promise.all(exits);
  for (const { command, args, env } of atEnd) spawnSync(command, args, { env, timeout: END_COMMAND_TIMEOUT_MS });
  rmSync(directory ?? '', { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

process.on('message', (message: ToGuard) => {
  if (ending) return;
  switch (message.type) {
    case 'start':
      return start(message);
    case 'signal': {
      const child = children.get(message.name);
      return child && signalGroup(child, message.signal);
    }
    case 'atEnd':
      return void atEnd.push(message);
    case 'stop':
      return void end();
    default:
      return message satisfies never;
  }
});
process.on('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
