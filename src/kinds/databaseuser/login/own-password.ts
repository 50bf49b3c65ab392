import { TerminalError, TransientError } from '../../../base/errors.ts';
import { isManaged, type SecretContents, valuesFrom } from '../../secrets.ts';
import type { TriedLogin, UserSubject } from '../observation.ts';
import { type Passwords, refusalOfPassword } from '../secret/passwords.ts';
import type { Work } from '../work.ts';
import { refusalAbout } from './refusal.ts';

/** Finds out where the password comes from, and whether the server refused it before. */
export async function observeSource(
  work: Work,
  secret: SecretContents | undefined,
  { current, next }: Passwords,
): Promise<Pick<TriedLogin, 'source' | 'refusal'>> {
  const { world, subject, access } = work;
  const ref = subject.spec.passwordSecretRef;
  const refusalOf = (password: string) =>
    world.memory.tries.refusal(subject, refusalAbout(subject, access, password, secret?.uid), world.clock.monotonic());
  if (ref === undefined) return { source: { is: 'generated' }, refusal: refusalOf('') };
  try {
    const { password, version } = await readOwnPassword(work, ref);
    const source = { is: 'own', version, applied: password === current, coming: password === next } as const;
    world.memory.sourceless.forget(subject.key);
    return { source, refusal: refusalOf(password) };
  } catch (error) {
    if (!(error instanceof TransientError) && !(error instanceof TerminalError)) throw error;
    const lasting = error instanceof TerminalError ? 'terminal' : 'transient';
    const forMs = world.memory.sourceless.begin(subject, world.clock.monotonic());
    return { source: { is: 'unusable', lasting, reason: error.reason, message: error.message, forMs } };
  }
}

type OwnPasswordRef = NonNullable<UserSubject['spec']['passwordSecretRef']>;

/** Reads the password that a person set, for one use. Throws TransientError or TerminalError if there is no usable one. */
export async function readOwnPassword(
  { world, subject, access, signal }: Work,
  { name, key = 'password' }: OwnPasswordRef,
): Promise<{ readonly password: string; readonly version: string }> {
  const namespace = subject.metadata.namespace ?? '';
  const secret = await world.secrets.read(namespace, name, signal);
  // Two users that follow each other's Secrets would swap their passwords for ever, and end all sessions each time.
  if (secret !== undefined && isManaged(secret)) throw notOwn(name);
  const refuse = (why: string) =>
    new TerminalError('InvalidPassword', `The password in Secret "${name}" under key "${key}" ${why}: change it there`);
  if (secret?.notText.has(key)) throw refuse('is not text (UTF-8)');
  const refusal = secret?.data.get(key) === '' ? refusalOfPassword('') : undefined;
  if (refusal !== undefined) throw refuse(refusal);
  const [password] = valuesFrom(secret, name, [key], namespace);
  const problem = refusalOfPassword(password);
  if (problem !== undefined) throw refuse(problem);
  if (access.isFactoryPassword(password))
    throw refuse('is the one that new clusters come with, which nobody should sign in with');
  return { password, version: secret?.resourceVersion ?? '' };
}

function notOwn(name: string): TerminalError {
  return new TerminalError(
    'InvalidPassword',
    `Secret "${name}" holds a password that Mooring looks after, as its labels say: put your own into a Secret without them, and name that one in passwordSecretRef`,
  );
}
