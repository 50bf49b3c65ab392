import { expect, test } from 'vitest';
import { aCluster, type ClusterBuilder, NOW_MS } from '../../../../test/support/builders.ts';
import { loginChangeAhead } from './source-login.ts';

const SECURED = 'CredentialsSecured';
const healthy = aCluster().healthy().withStatus({ lastRotation: '2026-11-20T11:00:00.000Z' });
const taken = aCluster()
  .owned()
  .withCondition('Ready', 'Unknown', 'Deploying')
  .withCondition(SECURED, 'False', 'NotYet');
const rotating = healthy.annotated('rotate-at', 'now');
const secured = (reason: string) => taken.withCondition(SECURED, 'False', reason);

test.each<[string, ClusterBuilder, string | undefined]>([
  ['secured, with nothing due', healthy, undefined],
  ['just taken over', taken, 'have its login secured'],
  ['taken over, and not looked at since', aCluster().owned(), 'have its login secured'],
  ['being secured', secured('SecuringCredentials'), 'have its login secured'],
  [
    'observed until now',
    taken.withCondition(SECURED, 'Unknown', 'ObservedOnly').generation(2),
    'have its login secured',
  ],
  ['should be suspended, but is secured first', taken.with({ state: 'Suspended' }), 'have its login secured'],
  ['asked for a new password', rotating, 'get a new password'],
  ['answered that', rotating.withStatus({ lastHandledRotateAt: 'now' }), undefined],
  [
    'due for a new password by schedule',
    healthy.with({ adminCredentials: { rotateEvery: '30m' } }),
    'get a new password',
  ],
  ['due for one later', healthy.with({ adminCredentials: { rotateEvery: '2h' } }), undefined],
  [
    'to keep its login in another Secret',
    healthy.with({ adminCredentials: { secretName: 'x' } }),
    'have its login in Secret "x"',
  ],
  ...['ImmutableFieldDiffers', 'StorageCannotShrink', 'ClusterIDInUse', 'RefusedByCloud'].map(
    (reason): [string, ClusterBuilder, string] => [
      `stalled with ${reason}, which keeps nobody from securing it`,
      taken.withCondition('Stalled', 'True', reason),
      'have its login secured',
    ],
  ),
  [
    'being deleted, but protected, and due for a new password',
    rotating.with({ deletionProtection: true }).deleting().withCondition('Stalled', 'True', 'DeletionProtected'),
    'get a new password',
  ],
  // Nothing changes these logins.
  ['stalled', taken.withCondition('Stalled', 'True', 'DefaultLoginRefused'), undefined],
  [
    'stalled until the spec was corrected',
    taken.withCondition('Stalled', 'True', 'DefaultLoginRefused').generation(2),
    'have its login secured',
  ],
  ['paused', taken.annotated('paused', 'true'), undefined],
  ['paused when a new password was due', rotating.annotated('paused', 'true'), undefined],
  ['observed only', taken.with({ managementPolicy: 'Observe' }), undefined],
  ['being deleted', taken.deleting(), undefined],
  ['to be suspended again', rotating.with({ state: 'Suspended' }), undefined],
])('What changes the login of a cluster that is %s', (_what, { subject }, ahead) => {
  expect(loginChangeAhead(subject, NOW_MS)).toBe(ahead);
});

test.each([
  ['a new password', rotating],
  ['another Secret', healthy.with({ adminCredentials: { secretName: 'x' } })],
])('A clone that its source waits for does not wait for %s in turn', (_what, { subject }) => {
  expect(loginChangeAhead(subject, NOW_MS, true)).toBeUndefined();
});
