import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './control-plane/cache.ts';
import type { Log } from './control-plane/control-plane.ts';
import { type GoModule, goBuild } from './control-plane/go-build.ts';
import { findGo, mustHaveGo } from './control-plane/go-command.ts';
import { findDocker } from './control-plane/kind.ts';
import { moduleText, readVersions, requiredVersion } from './control-plane/versions.ts';

/** A program that tests need, pinned by a go.mod of this project. */
export interface GoTool {
  /** The binary's name. */
  readonly name: string;
  /** The folder of go.mod. */
  readonly folder: string;
  /** The Go package of the program; `.` is the folder itself. */
  readonly package: string;
  /** The module whose version is the tool's. */
  readonly module: string;
  /** Build tags, with commas. */
  readonly tags?: string;
  /** How long the first build takes on a small machine: "3 min". */
  readonly about: string;
}

export interface GoToolOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

/**
 * Path of the tool's binary, built with Go into the user's cache unless it is already there. Tools from one folder share
 * a folder in the cache. Throws if there is neither Go nor a Docker to run it in.
 */
export async function builtTool(tool: GoTool, options: GoToolOptions = {}): Promise<string> {
  const { env = process.env, log = () => {}, signal } = options;
  const version = requiredVersion(readFileSync(join(tool.folder, 'go.mod'), 'utf8'), tool.module);
  const found = findGo(env, await findDocker(env), readVersions(moduleText('go.mod')).go);
  const complaint = `Cannot build ${tool.name}: this machine has neither Go nor a Docker that answers. Install Go`;
  const tags = tool.tags === undefined ? {} : { tags: tool.tags };
  const module: GoModule = {
    folder: tool.folder,
    key: `${tool.module.split('/').at(-1)}-${version}`,
    ldflags: '-s -w',
    ...tags,
  };
  const program = { name: tool.name, package: tool.package, version, about: tool.about };
  const go = mustHaveGo(found, complaint);
  return join(await goBuild(module, [program], { cache: cacheFolder(env), go, log, signal }), tool.name);
}
