import { homedir } from 'node:os';
import { join } from 'node:path';

/** The user's folder for things that can be rebuilt: MOORING_CACHE, or the usual place. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const named = env['MOORING_CACHE'];
  if (named !== undefined && named !== '') return named;
  const base = env['XDG_CACHE_HOME'];
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'mooring');
}
