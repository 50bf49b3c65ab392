import type { SecretContents } from '../secrets.ts';
import type { OpenServer } from '../server/access.ts';
import { isNextForeign, isOurSecret, passwordsIn } from './content.ts';
import { connectionSecretName, defaultSecretName, hasBegun, type TriedLogin, type UserSubject } from './observation.ts';
import type { UserWorld } from './world.ts';

/**
 * Returns the Secrets that the application used until connectionSecret.name changed: the one last bound, and the one last verified.
 * `isBegun`: the Secret of the new name exists. A coming password that somebody else wrote was then tried and removed there, so it is
 * not copied again.
 */
export async function observePrevious(
  world: UserWorld,
  subject: UserSubject,
  access: OpenServer,
  isBegun: boolean,
  signal: AbortSignal,
): Promise<TriedLogin['previous']> {
  const former = await formerSecrets(world, subject, signal);
  return former.map(({ name, secret }) => {
    const passwords = passwordsIn(secret, access, subject);
    const hasNext = passwords.next !== undefined && !(isBegun && isNextForeign(passwords, subject, world.memory));
    return { name, hasPassword: passwords.current !== undefined || hasNext };
  });
}

export interface Former {
  readonly name: string;
  /** Undefined: there is none that is ours. */
  readonly secret: SecretContents | undefined;
}

export async function formerSecrets(
  world: UserWorld,
  subject: UserSubject,
  signal: AbortSignal,
): Promise<readonly Former[]> {
  const { metadata, status } = subject;
  const { binding, connection } = status;
  const wanted = connectionSecretName(subject);
  const read = async (name: string): Promise<Former> => {
    const secret = await world.secrets.read(metadata.namespace ?? '', name, signal);
    return { name, secret: secret !== undefined && isOurSecret(subject, secret) ? secret : undefined };
  };
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
