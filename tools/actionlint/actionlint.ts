import { fileURLToPath } from 'node:url';
import { run } from '../control-plane/run.ts';
import { builtTool, type GoToolOptions } from '../go-tool.ts';

/** What is wrong with GitHub Actions workflows, one problem per line; '' if nothing is. */
export async function lintWorkflows(paths: readonly string[], options: GoToolOptions = {}): Promise<string> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const module = 'github.com/rhysd/actionlint';
  const tool = { name: 'actionlint', folder, package: `${module}/cmd/actionlint`, module, about: '20 s' };
  const command = await builtTool(tool, options);
  // Without checkers for other languages, which a machine may or may not have, so the verdict is the same everywhere.
  const args = ['-no-color', '-oneline', '-shellcheck=', '-pyflakes=', ...paths];
  const { stdout, stderr } = await run(command, args, { timeoutMs: 60_000 });
  return `${stdout}${stderr}`.trim();
}
