import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, run } from './control-plane/run.ts';

export interface PinnedModule {
  readonly path: string;
  readonly version: string;
  /** The hash of its files as in go.sum: `h1:…`. */
  readonly sum: string;
}

/** The folder with a Go module's files, downloaded unless Go has it. Throws without Go, or if the hash differs. */
export async function goModule({ path, version, sum }: PinnedModule): Promise<string> {
  const go = findOnPath('go', process.env['PATH']);
  if (go === undefined) throw new Error(`Cannot download ${path}: this machine has no Go. Install Go`);
  // Runs in a folder without go.mod, so that it concerns no module of ours.
  const folder = mkdtempSync(join(tmpdir(), 'go-module-'));
  try {
    const env = { ...process.env, GOWORK: 'off', GOFLAGS: '' };
    const { stdout } = await run(go, ['mod', 'download', '-json', `${path}@${version}`], { cwd: folder, env });
    const answer = JSON.parse(stdout) as { readonly Dir?: string; readonly Sum?: string; readonly Error?: string };
    if (answer.Dir === undefined) throw new Error(`Cannot download ${path}@${version}: ${answer.Error}`);
    if (answer.Sum !== sum) throw new Error(`${path}@${version} has the hash ${answer.Sum}, and should have ${sum}`);
    return answer.Dir;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
