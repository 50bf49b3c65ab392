import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';
import { builtTool, type GoToolOptions } from '../go-tool.ts';

export interface Judged {
  readonly status: 'InProgress' | 'Failed' | 'Current' | 'Terminating' | 'NotFound' | 'Unknown';
  readonly message: string;
}

/** How Flux, Helm and others that use kstatus judge each of these Kubernetes objects, in the same order. */
export async function judge(objects: readonly object[], options: GoToolOptions = {}): Promise<readonly Judged[]> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const module = 'github.com/fluxcd/cli-utils';
  const command = await builtTool({ name: 'kstatus', folder, package: '.', module, about: '40 s' }, options);
  const { code, stdout, stderr } = await run(command, [], { input: JSON.stringify(objects) });
  if (code !== 0) throw new Error(`kstatus has failed: ${stderr.trim()}`);
  return JSON.parse(stdout);
}
