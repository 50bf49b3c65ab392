import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../control-plane/cache.ts';
import type { Log } from '../control-plane/control-plane.ts';
import { goBuild } from '../control-plane/go-build.ts';
import { findGo, mustHaveGo } from '../control-plane/go-command.ts';
import { findDocker } from '../control-plane/kind.ts';
import { moduleText, readVersions, requiredVersion } from '../control-plane/versions.ts';

export interface HelmOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly log?: Log;
  readonly signal?: AbortSignal;
}

const MODULE = 'helm.sh/helm/v4';

/**
 * Path of the pinned helm, built with Go into the user's cache unless it is already there. Another helm on PATH is not
 * used, because its output is compared byte by byte. Throws if there is neither Go nor Docker.
 */
export async function builtHelm({ env = process.env, log = () => {}, signal }: HelmOptions = {}): Promise<string> {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const version = requiredVersion(readFileSync(join(folder, 'go.mod'), 'utf8'), MODULE);
  const go = findGo(env, await findDocker(env), readVersions(moduleText('go.mod')).go);
  const needGo = mustHaveGo(go, 'Cannot build helm: this machine has neither Go nor a Docker that answers. Install Go');
  const module = {
    folder,
    key: `helm-${version}`,
    ldflags: `-s -w -X ${MODULE}/internal/version.version=${version}`,
  };
  const program = { name: 'helm', package: `${MODULE}/cmd/helm`, version, about: '2 min' };
  return join(await goBuild(module, [program], { cache: cacheFolder(env), go: needGo, log, signal }), 'helm');
}
