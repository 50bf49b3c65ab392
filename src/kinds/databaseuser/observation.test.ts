import { expect, test } from 'vitest';
import { CREATED_AT } from '../../../test/support/builders.ts';
import { aUser } from '../../../test/support/user-builders.ts';
import { isOurs } from './observation.ts';

test.each([
  ['the user that it got on that cluster', aUser().owned(), CREATED_AT, true],
  ['a user of the same name on another cluster', aUser().owned(), 'another', false],
  ['a user, if its status names another one', aUser().owned().withStatus({ username: 'edited' }), CREATED_AT, false],
  ['a user, if it was verified nowhere', aUser().withStatus({ username: 'app' }), CREATED_AT, false],
  ['a user, if it got none', aUser(), CREATED_AT, false],
])('isOurs() tells whose it is: %s', (_what, { subject }, identity, ours) => {
  expect(isOurs(subject, identity)).toBe(ours);
});
