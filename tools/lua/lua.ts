import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';
import { builtTool, type GoToolOptions } from '../go-tool.ts';

export interface LuaTask {
  readonly script: string;
  /** The script's `obj`. */
  readonly object: object;
}

/** What a script returned, or why it failed. */
export type LuaAnswer = { readonly result: unknown } | { readonly error: string };

/** Runs each script on its object as Argo CD would, all in one process. Answers are in the order of the tasks. */
export async function runLua(tasks: readonly LuaTask[], options: GoToolOptions = {}): Promise<readonly LuaAnswer[]> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const module = 'github.com/yuin/gopher-lua';
  const command = await builtTool({ name: 'run-lua', folder, package: '.', module, about: '20 s' }, options);
  const { code, stdout, stderr } = await run(command, [], { input: JSON.stringify(tasks) });
  if (code !== 0) throw new Error(`Cannot run Lua: ${stderr.trim()}`);
  return JSON.parse(stdout);
}
