import { describe, expect, it } from 'vitest';
import { aCluster, anObservation, NOW_MS, outline } from '../../../../test/support/builders.ts';
import { TerminalError } from '../../../base/errors.ts';
import { failureOf } from '../../../kube/failure.ts';
import { decideCluster } from '../decide.ts';
import { refusalAbout } from './refusal.ts';

const failure = failureOf(new TerminalError('RefusedByServer', 'The server takes no such password'));
const refusal = { failure, forMs: 42_000 };
const healthy = aCluster().healthy().withStatus({ lastRotation: '2026-11-20T11:00:00.000Z' });
const asked = healthy.annotated('rotate-at', 'now');
const settled = (known: object) => anObservation().login({ login: 'settled', verifyInMs: undefined, ...known });

describe('decideCluster(), if the server has just refused a new password', () => {
  it.each([
    ['a rotation', settled],
    ['a rotation whose Secret was looked at', (known: object) => anObservation().tried({ ...known })],
    [
      'the first password',
      (known: object) =>
        anObservation().tried({ secretVersion: undefined, working: 'factory', factoryAlive: undefined, ...known }),
    ],
  ])('writes none for %s, reports the refusal, and comes back when its time is over', (_what, observed) => {
    expect(outline(decideCluster(asked.subject, observed({}).seen, NOW_MS)).steps).toEqual(['PreparePassword']);
    const decision = decideCluster(asked.subject, observed({ refusal }).seen, NOW_MS);
    expect(decision).toMatchObject({ stands: failure, requeueAfterMs: refusal.forMs });
    expect(outline(decision).steps).toEqual([]);
  });

  it('says nothing about it if no password needs to be replaced any more', () => {
    const decision = decideCluster(healthy.subject, settled({ refusal }).seen, NOW_MS);
    expect([decision.stands, decision.requeueAfterMs]).toEqual([undefined, undefined]);
    expect(outline(decision).ready).toBe('True Running');
  });

  it.each([
    ['that is protected', { deletionProtection: true }, true, 'DeletionProtected'],
    ['that nobody gave the token to destroy for', {}, false, 'DeletionBlocked'],
  ])('says what the deletion of a cluster %s waits for, not that', (_what, spec, canDestroy, reason) => {
    const leaving = asked.with({ deletionPolicy: 'Delete', ...spec }).deleting();
    const decision = decideCluster(leaving.subject, settled({ refusal }).with({ canDestroy }).seen, NOW_MS);
    expect([outline(decision).ready, decision.prevails]).toEqual([`False ${reason}`, true]);
    expect(decision.requeueAfterMs).toBe(refusal.forMs);
  });

  it('changes the cluster all the same, as that may fix it', () => {
    const grown = asked.with({ storageSizeGB: 200 });
    const decision = decideCluster(grown.subject, settled({ refusal }).seen, NOW_MS);
    expect(outline(decision)).toMatchObject({ ready: 'Unknown Updating', steps: ['Update'] });
    expect(decision.stands).toBeUndefined();
  });
});

describe('A refusal of a password', () => {
  const { subject } = healthy;
  const changed = (metadata: object) => ({ ...subject, metadata: { ...subject.metadata, ...metadata } });
  const about = refusalAbout(subject, 'secret');

  it.each([
    ['a person changes the spec', refusalAbout(changed({ generation: 7 }), 'secret')],
    ['a person asks for another password', refusalAbout(asked.subject, 'secret')],
    ['the object is created anew', refusalAbout(changed({ uid: 'another' }), 'secret')],
    [
      'the cluster is another one',
      refusalAbout(healthy.withStatus({ createdAt: '2026-11-20T11:30:00.000Z' }).subject, 'secret'),
    ],
    [
      'the server is at another address',
      refusalAbout(healthy.withStatus({ endpoint: 'https://elsewhere.test' }).subject, 'secret'),
    ],
    ['the Secret is another one', refusalAbout(subject, 'other')],
  ])('counts no longer once %s', (_what, other) => {
    expect(other).not.toBe(about);
  });

  it('counts as long as only conditions and other annotations change', () => {
    const other = healthy.withStatus({ conditions: [] }).annotated('unrelated', '1');
    expect(refusalAbout(other.subject, 'secret')).toBe(about);
  });
});
