import { spawnSync } from 'node:child_process';

/** A folder as the root of a process's file system, as a container has it. */
export interface Jail {
  readonly root: string;
  readonly readOnly: boolean;
}

/** A user other than root can be the root of a user namespace, which knows no other user. */
const IS_ROOT = process.getuid?.() === 0;
const AS_ROOT = IS_ROOT ? [] : ['unshare', '--user', '--map-root-user'];
const WITH_MOUNTS = IS_ROOT ? ['unshare', '--mount'] : [...AS_ROOT, '--mount'];

/** /proc and /dev as every container gets them; the rest is in the folder. `exec` all along, so that signals arrive. */
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

/** The image's user, if this machine can run as another user; otherwise the user who runs the tests, who is then not root. */
const USER = IS_ROOT ? ['--userspec=65532:65532', '--groups='] : [];

/** The command that runs `command` in the jail. Throws if the machine does not allow mounts. */
export function jailed({ root, readOnly }: Jail, command: readonly string[]): readonly string[] {
  const [unshare = '', ...args] = WITH_MOUNTS;
  if (spawnSync(unshare, [...args, 'true']).status !== 0) {
    throw new Error(
      'This machine lets this user have no mounts of their own (unshare --mount), so the image cannot be tried: run the ' +
        'tests on Linux, as root or with user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0)',
    );
  }
  return [...WITH_MOUNTS, 'sh', '-c', SETUP, 'jail', root, readOnly ? 'ro' : 'rw', ...USER, root, ...command];
}

/** The command as root, as far as files of this user are concerned. */
export function asRoot(command: readonly string[]): readonly string[] {
  return [...AS_ROOT, ...command];
}
