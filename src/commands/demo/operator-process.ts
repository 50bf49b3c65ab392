import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Guard, type GuardedProcess } from '../../../tools/control-plane/guard.ts';
import { lastLines } from '../../../tools/control-plane/tail.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { type Environment, fileOfProject } from './cluster-access.ts';
import { poll } from './screen.ts';

/** `bin/mooring controller` as a separate process, which ends with this one however this one ends. */
export interface OperatorProcess {
  readonly pid: number;
  /** Path of its log. */
  readonly log: string;
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** The end of its log, indented. */
  lastLines(): string;
  stop(): Promise<void>;
}

export interface OperatorProcessOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const NAME = 'operator';
const MOORING = fileOfProject('bin/mooring');
const START_TIMEOUT_MS = 30_000;
/** Longer than the operator allows its last passes. */
const STOP_TIMEOUT_MS = 15_000;

/** Resolves when the operator reports that it is ready. Throws with its last lines if it ends or does not get there. */
export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const guard = new Guard(tmpdir());
  try {
    const args = [
      ...[MOORING, 'controller', `--kubeconfig=${options.kubeconfig}`, `--namespaces=${options.namespace}`],
      ...['--metrics-address=127.0.0.1:0', '--health-address=127.0.0.1:0', '--log-level=info', '--log-format=json'],
    ];
    const command = { name: NAME, command: process.execPath, args, env: options.env };
    const child = await guard.start(command);
    const operator = operatorOf(guard, child, options.clock);
    await untilReady(operator, options);
    return operator;
  } catch (error) {
    await guard.stop();
    throw error;
  }
}

function operatorOf(guard: Guard, child: GuardedProcess, clock: Clock): OperatorProcess {
  return {
    pid: child.pid,
    log: child.log,
    ended: child.exited.then(() => {}),
    lastLines: () => lastLines(child.log),
    async stop() {
      guard.signal(NAME, 'SIGTERM');
      const giveUp = new AbortController();
      await Promise.race([child.exited, sleep(clock, STOP_TIMEOUT_MS, giveUp.signal)]);
      giveUp.abort();
      await guard.stop();
    },
  };
}

async function untilReady(operator: OperatorProcess, { clock, signal }: OperatorProcessOptions): Promise<void> {
  let over = false;
  void operator.ended.then(() => {
    over = true;
  });
  const check = async () => {
    if (over) return false;
    return (await isReady(healthAddress(operator.log))) ? true : undefined;
  };
  const ready = await poll(check, { clock, everyMs: 50, forMs: START_TIMEOUT_MS, signal });
  signal.throwIfAborted();
  if (ready !== true) {
    throw new Error(
      `The operator ${over ? 'ended' : 'is not ready'}. The last lines of its log:\n${operator.lastLines()}`,
    );
  }
}

/** The operator chooses a free port and logs it. */
function healthAddress(log: string): string | undefined {
  return /"health":"([^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1];
}

async function isReady(address: string | undefined): Promise<boolean> {
  if (address === undefined) return false;
  try {
    const response = await fetch(`http://${address}/readyz`);
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}
