import { spawnSync } from 'node:child_process';

/** A folder as the root of a process's file system, as a container has it. */
export interface Jail {
  readonly root: string;
  readonly readOnly: boolean;
}

/** How this machine lets a process have mounts of its own: as root, as the root of a user namespace, or by sudo. */
const WAYS: readonly (readonly string[])[] = [
  ['unshare', '--mount'],
  ['unshare', '--user', '--map-root-user', '--mount'],
  ['sudo', '--non-interactive', '--preserve-env', 'unshare', '--mount'],
];

/** /proc and /dev as every container gets them; all else is what the folder holds. `exec` all along, so that signals arrive. */
const SETUP = [
  'set -e',
  'root=$1 mode=$2; shift 2',
  'mount --make-rprivate / 2>/dev/null || :',
  'mount --bind "$root" "$root"',
  'mount --rbind /proc "$root/proc"',
  'mount --rbind /dev "$root/dev"',
  'if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root"; fi',
  'exec chroot "$@"',
].join('\n');

/** The image's user, where this machine can be another one than it is; otherwise who runs the tests, who is not root then. */
const USER = ['--userspec=65532:65532', '--groups='];

/** The command that runs `command` in the jail. Throws where the machine lets nobody have mounts. */
export function jailed({ root, readOnly }: Jail, command: readonly string[]): readonly string[] {
  const way = WAYS.find(([name = '', ...args]) => spawnSync(name, [...args, 'true']).status === 0);
  if (way === undefined) {
    throw new Error(
      'This machine lets this user have no mounts of their own (unshare --mount), so the image cannot be tried: run the ' +
        'tests as root, allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0), or allow sudo',
    );
  }
  const user = way.includes('--user') ? [] : USER;
  return [...way, 'sh', '-c', SETUP, 'jail', root, readOnly ? 'ro' : 'rw', ...user, root, ...command];
}
