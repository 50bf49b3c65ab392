import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { waitUntil } from './control-plane.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

export interface OperatorOptions {
  readonly kubeconfig: string;
  readonly namespaces: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** `mooring controller` as a separate process. */
export interface OperatorProcess {
  readonly pid: number;
  /** The addresses that it listens on. */
  readonly addresses: Promise<{ readonly metrics: string; readonly health: string }>;
  /** Its output so far: standard output and error. */
  logs(): string;
  /** The sum of a metric's samples whose labels have these values. */
  metric(name: string, labels?: Readonly<Record<string, string | RegExp>>): Promise<number>;
  metricsText(): Promise<string>;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts it; resolves when /readyz reports that it is ready. */
export async function startOperator(options: OperatorOptions): Promise<StartingOperator> {
  const operator = spawnOperator(options);
  const { health } = await operator.addresses;
  const isReady = async () => {
    if (operator.hasEnded()) throw new Error(`The operator has ended:\n${operator.logs()}`);
    return (await fetch(`http://${health}/readyz`)).ok;
  };
  await waitUntil(isReady, { what: 'the operator is ready' });
  return operator;
}

export interface StartingOperator extends OperatorProcess {
  hasEnded(): boolean;
}

/** Starts it without waiting for anything. */
export function spawnOperator({ kubeconfig, namespaces, args = [], env = {} }: OperatorOptions): StartingOperator {
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--namespaces=${namespaces.join(',')}`,
    '--metrics-address=127.0.0.1:0',
    '--health-address=127.0.0.1:0',
    '--log-level=debug',
    ...args,
  ];
  // The test's own environment, without anything that would configure the operator.
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MOORING_')));
  const child = spawn(process.execPath, [MAIN, 'controller', ...flags], {
    env: { ...inherited, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  const logs = () => output.join('');
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const addresses = new Promise<{ metrics: string; health: string }>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output.push(chunk.toString('utf8'));
      const line = /^.*"msg":"Mooring listens".*$/m.exec(logs())?.[0];
      if (line !== undefined) resolve(JSON.parse(line));
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('close', () => reject(new Error(`The operator has ended:\n${logs()}`)));
  });
  addresses.catch(() => {});
  const metricsText = async () => (await fetch(`http://${(await addresses).metrics}/metrics`)).text();
  return {
    pid: child.pid ?? 0,
    addresses,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    logs,
    metricsText,
    metric: async (name, labels = {}) => sumOf(await metricsText(), name, labels),
    stop: () => end(child, 'SIGTERM', ended),
    kill: async () => void (await end(child, 'SIGKILL', ended)),
  };
}

function end(child: ChildProcess, signal: NodeJS.Signals, ended: Promise<number | null>): Promise<number | null> {
  child.kill(signal);
  return ended;
}

function sumOf(text: string, name: string, labels: Readonly<Record<string, string | RegExp>>): number {
  let sum = 0;
  for (const [, sampleName, sampleLabels = '', value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    if (sampleName !== name) continue;
    const found = new Map([...sampleLabels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', word = '']) => [key, word]));
    const fits = Object.entries(labels).every(([key, wanted]) => {
      const word = found.get(key) ?? '';
      return typeof wanted === 'string' ? wanted === word : wanted.test(word);
    });
    if (fits) sum += Number(value);
  }
  return sum;
}
