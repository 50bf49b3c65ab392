import { fileURLToPath } from 'node:url';
import type { CommandIO } from '../../src/commands/command.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { adminKubeconfig } from './control-plane.ts';

const PLUGIN = fileURLToPath(new URL('../../bin/kubectl-mooring', import.meta.url));

/** Who runs the command, and its standard input. Default: the administrator, and nothing. */
export interface Typed {
  readonly kubeconfig?: string;
  readonly input?: string;
}

/** Runs `kubectl mooring ARGS` in the namespace, as a separate process. */
export function mooring(namespace: string, args: readonly string[], typed: Typed = {}): Promise<RunResult> {
  const { kubeconfig = adminKubeconfig(), input } = typed;
  const whole = [PLUGIN, ...args, '--kubeconfig', kubeconfig, '--namespace', namespace];
  return run(process.execPath, whole, input === undefined ? {} : { input });
}

/** The same in this process, which is much faster. Standard input is empty. */
export async function mooringHere(
  namespace: string,
  args: readonly string[],
  kubeconfig = adminKubeconfig(),
): Promise<RunResult> {
  const [name = '', ...argv] = args;
  const command = await COMMANDS[name]?.load();
  if (command === undefined) throw new Error(`There is no command "${name}"`);
  let [stdout, stderr] = ['', ''];
  const io: CommandIO = {
    stdout: (text) => {
      stdout += text;
    },
    stderr: (text) => {
      stderr += text;
    },
    isTerminal: false,
    env: { KUBECONFIG: kubeconfig },
    signal: new AbortController().signal,
  };
  const inNamespace = name === '__complete' || name === 'completion' ? [] : ['--namespace', namespace];
  const code = await command([...argv, ...inNamespace], io);
  return { code, stdout, stderr };
}
