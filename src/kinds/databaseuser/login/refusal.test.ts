import { describe, expect, it } from 'vitest';
import { NOW_MS, outline } from '../../../../test/support/builders.ts';
import { aServerSeen, aUser, triedLogin } from '../../../../test/support/user-builders.ts';
import { TerminalError } from '../../../base/errors.ts';
import { failureOf } from '../../../kube/failure.ts';
import { decideUser } from '../decide.ts';
import type { UserSeen } from '../observation.ts';

const failure = failureOf(new TerminalError('RefusedByServer', 'The server takes no such password'));
const refusal = { failure, forMs: 42_000 };
const owned = aUser().owned();
const asked = owned.annotated('rotate-at', 'now');
const own = owned.with({ passwordSecretRef: { name: 'mine' } });
const nothing = {
  secretVersion: undefined,
  hasCurrent: false,
  works: 'none',
  exists: false,
  asVerified: false,
} as const;
const source = { is: 'own', version: '9', applied: false, coming: false } as const;
const settled = { login: 'settled', verifyInMs: undefined } as const;
const decide = (user: typeof owned, login: UserSeen['login']) => decideUser(user.subject, aServerSeen(login), NOW_MS);

describe('decideUser(), if the server has just refused a new password', () => {
  it.each([
    ['a rotation', asked, settled],
    ['a rotation whose Secret was looked at', asked, triedLogin({ verifyInMs: undefined })],
    ['a password of a person', own, triedLogin({ source })],
    ['the first password', aUser(), triedLogin(nothing)],
  ])('writes none for %s, reports the refusal, and comes back when its time is over', (_what, user, login) => {
    expect(outline(decide(user, login)).steps).toEqual(['PrepareNext']);
    const decision = decide(user, { ...login, refusal });
    expect(decision).toMatchObject({ stands: failure, requeueAfterMs: refusal.forMs });
    expect(outline(decision).steps).toEqual([]);
  });

  it('says nothing about it if no password needs to be replaced any more', () => {
    const decision = decide(owned, { ...settled, refusal });
    expect([decision.stands, decision.requeueAfterMs]).toEqual([undefined, undefined]);
    expect(outline(decision).ready).toBe('True LoginWorks');
  });
});
