import type { SecretContents } from '../../secrets.ts';
import { connectionSecretName, defaultSecretName, hasBegun, type TriedLogin } from '../observation.ts';
import type { LocalWork, Work } from '../work.ts';
import { readOurs } from './our-secret.ts';
import { isNextForeign, passwordsIn } from './passwords.ts';

/**
 * Returns the Secrets that the application used until connectionSecret.name changed: the one last bound, and the one last verified.
 * `isBegun`: the Secret of the new name exists. A coming password that somebody else wrote was then tried and removed there, so it is
 * not copied again.
 */
export async function observePrevious(work: Work, isBegun: boolean): Promise<TriedLogin['previous']> {
  const former = await formerSecrets(work);
  return former.map(({ name, secret }) => {
    const passwords = passwordsIn(secret, work);
    const hasNext = passwords.next !== undefined && !(isBegun && isNextForeign(passwords, work));
    return { name, hasPassword: passwords.current !== undefined || hasNext };
  });
}

interface Former {
  readonly name: string;
  /** Undefined: there is none that is ours. */
  readonly secret: SecretContents | undefined;
}

export async function formerSecrets(work: LocalWork): Promise<readonly Former[]> {
  const { world, subject } = work;
  const { metadata, status } = subject;
  const { binding, connection } = status;
  const wanted = connectionSecretName(subject);
  const read = async (name: string): Promise<Former> => ({ name, secret: await readOurs(work, name) });
  // Before the first one was verified, only this process knows them.
  const written = connection === undefined ? world.memory.secretsWritten(subject.key) : [];
  const known = [binding?.name, connection?.secretName, ...written].filter((name) => name !== undefined);
  const others = [...new Set(known)].filter((name) => name !== wanted);
  if (known.length > 0 || !hasBegun(subject)) return Promise.all(others.map(read));
  // An earlier process may have written one, of which only the default name is known.
  const name = defaultSecretName(subject);
  const guessed = name === wanted ? undefined : await read(name);
  const isMade = guessed?.secret?.ownerReferences.some(({ uid }) => uid === metadata.uid) ?? false;
  return guessed !== undefined && isMade ? [guessed] : [];
}
