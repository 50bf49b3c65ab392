// Builds pinned Go programs once, into the user's cache.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../lock.mjs';
import type { Log } from './control-plane.ts';
import type { GoCommand, GoProgram } from './go-command.ts';
import { Guard } from './guard.ts';
import { isExecutable } from './run.ts';
import { lastLines } from './tail.ts';

export interface GoModule {
  /** The folder of go.mod, go.sum and any Go files that belong to them. */
  readonly folder: string;
  /** A name for the cache: tool and version. A hash is added, so that any change causes a rebuild. */
  readonly key: string;
  readonly ldflags: string;
  /** Build tags, separated by commas. */
  readonly tags?: string;
}

export interface BuildOptions {
  readonly cache: string;
  /** Called only if something must be built; throws if there is no Go. */
  readonly go: () => GoCommand;
  readonly log: Log;
  readonly signal?: AbortSignal | undefined;
}

/** The folder with the module's binaries once they are built. */
function buildFolder(cache: string, { folder, key, ldflags, tags }: GoModule): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${ldflags}`);
  if (tags !== undefined) hash.update(tags);
  const sources = globSync('*.go', { cwd: folder }).sort();
  for (const file of ['go.mod', 'go.sum', ...sources]) hash.update(readFileSync(join(folder, file)));
  return join(cache, 'go', `${key}-${hash.digest('hex').slice(0, 12)}`);
}

/** Builds the missing binaries; each appears under its name only when it is complete. Returns the folder. */
export async function goBuild(
  module: GoModule,
  programs: readonly GoProgram[],
  options: BuildOptions,
): Promise<string> {
  const target = buildFolder(options.cache, module);
  const missing = () => programs.filter(({ name }) => !isExecutable(join(target, name)));
  if (missing().length === 0) return target;
  const onWait = () => options.log('Waiting for another process that builds the same binaries');
  await withLock(`${target}.lock`, onWait, async () => {
    mkdirSync(target, { recursive: true });
    for (const program of missing()) await build(module, program, target, options);
  });
  return target;
}

async function build(module: GoModule, program: GoProgram, target: string, options: BuildOptions): Promise<void> {
  const { log, signal } = options;
  signal?.throwIfAborted();
  const go = options.go();
  log(`Building ${program.name} ${program.version} with ${go.name} (only the first time, about ${program.about})`);
  // The guard's folder takes the compiler's temporary files and is removed with it: an interrupted build leaves nothing behind.
  const guard = new Guard(target);
  const stop = () => void guard.stop();
  signal?.addEventListener('abort', stop);
  try {
    const output = join(guard.directory, program.name);
    const line = go.build({
      module: module.folder,
      scratch: guard.directory,
      ldflags: module.ldflags,
      tags: module.tags,
      output,
      program,
    });
    if (line.atEnd) guard.atEnd(line.atEnd);
    const process = await guard.start({ ...line, name: `build-${program.name}` });
    const { code } = await process.exited;
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`Cannot build ${program.name}. The last lines:\n${lastLines(process.log)}`);
    renameSync(output, join(target, program.name));
  } finally {
    signal?.removeEventListener('abort', stop);
    await guard.stop();
  }
}
