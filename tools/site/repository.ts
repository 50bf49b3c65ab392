import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that may be shown: those that git tracks or would track. Anything else in a checkout is left out. */
export interface Repository {
  /** All paths, relative to the root, in order. */
  readonly paths: readonly string[];
  has(path: string): boolean;
  /** The files in a folder and below it; none if there is no such folder. */
  below(folder: string): readonly string[];
  read(path: string): string;
}

/** @param root The top folder of a git checkout. */
export function readRepository(root: string): Repository {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  // Files that were deleted but not yet committed are listed too.
  const paths = listed.filter((path) => path !== '' && existsSync(join(root, path))).toSorted();
  const known = new Set(paths);
  return {
    paths,
    has: (path) => known.has(path),
    below: (folder) => paths.filter((path) => path.startsWith(`${folder}/`)),
    read: (path) => readFileSync(join(root, path), 'utf8'),
  };
}
