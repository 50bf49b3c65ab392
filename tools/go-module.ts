import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath, run } from './control-plane/run.ts';
import { requiredVersion } from './control-plane/versions.ts';

export interface PinnedModule {
  readonly path: string;
  readonly version: string;
  /** The hash of its files as in go.sum: `h1:…`. */
  readonly sum: string;
}

/** The module as go.mod and go.sum in the folder pin it. Throws if one of them does not. */
export function pinnedModule(folder: string, path: string): PinnedModule {
  const version = requiredVersion(readFileSync(join(folder, 'go.mod'), 'utf8'), path);
  const sums = readFileSync(join(folder, 'go.sum'), 'utf8').split('\n');
  const sum = sums.find((line) => line.startsWith(`${path} ${version} `))?.split(' ')[2];
  if (sum === undefined) throw new Error(`Cannot read go.sum: it does not name ${path} ${version}`);
  return { path, version, sum };
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
