import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';
import { builtTool, type GoToolOptions } from '../go-tool.ts';

export interface Judged {
  readonly status: 'InProgress' | 'Failed' | 'Current' | 'Terminating' | 'NotFound' | 'Unknown';
  readonly message: string;
}

/** One of the `healthCheckExprs` of a Flux Kustomization, in CEL. */
export interface Expressions {
  readonly inProgress?: string;
  readonly failed?: string;
  readonly current: string;
}

export interface JudgeOptions extends GoToolOptions {
  /** The expressions that judge an object instead of kstatus; undefined: none. */
  readonly expressionsFor?: (object: object) => Expressions | undefined;
}

/** How Flux, Helm and others that use kstatus judge each of these Kubernetes objects, in the same order. */
export async function judge(objects: readonly object[], options: JudgeOptions = {}): Promise<readonly Judged[]> {
  const { expressionsFor = () => undefined, ...rest } = options;
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const module = 'github.com/fluxcd/cli-utils';
  const command = await builtTool({ name: 'kstatus', folder, package: '.', module, about: '1 min' }, rest);
  const input = JSON.stringify(objects.map((object) => ({ object, expressions: expressionsFor(object) })));
  const { code, stdout, stderr } = await run(command, [], { input });
  if (code !== 0) throw new Error(`kstatus has failed: ${stderr.trim()}`);
  return JSON.parse(stdout);
}
