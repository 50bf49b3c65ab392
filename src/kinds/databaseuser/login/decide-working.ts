import { correctedRotation, rotationAt, rotationNow, untilRotation } from '../../rotation.ts';
import { earlier } from '../../verification.ts';
import {
  type Connection,
  connectionSecretName,
  owns,
  type TriedLogin,
  type UserDecision,
  type UserSeen,
  type UserStep,
  type UserSubject,
  usernameOf,
} from '../observation.ts';
import { readyConditions } from '../present.ts';

/** The password in the Secret signs in. `login` undefined: it did so before, and nothing has changed since. */
export function decideWorking(
  subject: UserSubject,
  seen: UserSeen,
  login: TriedLogin | undefined,
  pauses: Pick<TriedLogin, 'verifyInMs' | 'refusal' | 'landsInMs'>,
  nowMs: number,
): UserDecision {
  const { spec, status } = subject;
  const { passwordSecretRef, rotateEvery } = spec;
  const { steps: rotate, stands, againInMs } = rotationOf(subject, login, pauses, nowMs);
  // For a person's own password, all there is to record is that a rotation was asked for.
  const asked = passwordSecretRef === undefined ? undefined : rotationAt(subject, nowMs).lastHandledRotateAt;
  const handled = asked === undefined ? {} : { lastHandledRotateAt: asked };
  const corrected = passwordSecretRef === undefined ? correctedRotation(subject, rotateEvery, nowMs) : {};
  const decision: UserDecision = {
    conditions: readyConditions(subject, seen),
    hold: rotate.length > 0 || !owns(subject),
    status: { ...corrected, ...handled },
    steps: rotate,
    stands,
    requeueAfterMs: earlier(pauses.verifyInMs, againInMs),
  };
  // What the status says about an own password is forgotten only when another one is in the Secret.
  if (login === undefined || isToGiveWay(subject, login)) return decision;
  const connection = connectionOf(subject, seen, login);
  const first = status.lastRotation === undefined ? rotationAt(subject, nowMs) : {};
  const username = usernameOf(subject);
  const found = { ...first, ...decision.status };
  const binding = { name: connection.secretName };
  const names = login.previous.map(({ name }) => name);
  if (names.length === 0) return { ...decision, status: { username, binding, ...found, connection } };
  // A name is forgotten only when all these Secrets are gone: until then the status has no room for more.
  const retire = names.map((name, index) => {
    const isLast = index === names.length - 1;
    return { do: 'RetireSecret', name, connection: isLast ? connection : undefined } as const;
  });
  return { ...decision, status: { username, ...found }, steps: retire };
}

/** What begins a replacement of the password that works, if one is due; otherwise why it waits, and for how long. */
export function rotationOf(
  subject: UserSubject,
  login: TriedLogin | undefined,
  { refusal, landsInMs }: Pick<TriedLogin, 'refusal' | 'landsInMs'>,
  nowMs: number,
): Pick<ReturnType<typeof rotationNow>, 'stands' | 'againInMs'> & { readonly steps: readonly UserStep[] } {
  const { passwordSecretRef, rotateEvery } = subject.spec;
  const isLeft = isToGiveWay(subject, login);
  const generatedInMs = isLeft ? 0 : untilRotation(subject, rotateEvery, nowMs);
  const { begins, ...rest } = rotationNow(passwordSecretRef === undefined ? generatedInMs : undefined, refusal);
  // What replaced the password before may yet arrive once more, and would undo this.
  if (begins && !isLeft && landsInMs !== undefined) return { ...rest, againInMs: landsInMs, steps: [] };
  return { ...rest, steps: begins ? [{ do: 'PrepareNext', ...(isLeft ? {} : { rotates: true }) }] : [] };
}

/** Whether the Secret's password must be replaced: a person's own that the spec no longer names, or one that nobody may have. */
function isToGiveWay({ spec }: UserSubject, login: TriedLogin | undefined): boolean {
  return spec.passwordSecretRef === undefined && (login?.isOwn === true || login?.isFactory === true);
}

function connectionOf(subject: UserSubject, { at }: UserSeen, { secretVersion, source }: TriedLogin): Connection {
  return {
    cluster: at.identity,
    endpoint: at.endpoint,
    addresses: at.addresses,
    secretName: connectionSecretName(subject),
    secretResourceVersion: secretVersion ?? '',
    ...(source.is === 'own' ? { sourceResourceVersion: source.version } : {}),
  };
}
