import { expect, test } from 'vitest';
import { type ScriptedAnswer, scriptedTransport } from '../../test/support/http.ts';
import { createReviews } from './reviews.ts';

/** An API server that gives these answers, one after the other. */
function bench(...answers: readonly { readonly status?: number; readonly body: unknown }[]) {
  const renewed: boolean[] = [];
  const transport = scriptedTransport((_request, count): ScriptedAnswer => ({ status: 201, ...answers[count] }));
  const { requests } = transport;
  const authorize = async (renew: boolean) => {
    renewed.push(renew);
    return { authorization: 'Bearer ours' };
  };
  const reviews = createReviews({ server: 'https://api.test/', authorize }, transport);
  const sent = () => requests.map(({ url, body = '' }) => [url, JSON.parse(body).spec]);
  return { reviews, sent, requests, renewed };
}

test('authenticate() returns the user that a token belongs to, as the API server says it', async () => {
  const user = { username: 'prometheus', uid: '1', groups: ['system:serviceaccounts'], extra: { a: ['b'] } };
  const { reviews, sent, requests } = bench({ body: { status: { authenticated: true, user } } });
  expect(await reviews.authenticate('theirs')).toEqual(user);
  expect(sent()).toEqual([['https://api.test/apis/authentication.k8s.io/v1/tokenreviews', { token: 'theirs' }]]);
  expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer ours' });
});

test.each([
  [{ authenticated: false, user: { username: 'prometheus' } }],
  [{ authenticated: 'true', user: { username: 'prometheus' } }],
  [{ error: 'expired', user: { username: 'prometheus' } }],
  [{ authenticated: true }],
])('authenticate() accepts nobody after %j', async (status) => {
  expect(await bench({ body: { status } }).reviews.authenticate('theirs')).toBeUndefined();
});

test('mayGet() asks with everything that is known of the user', async () => {
  const user = { username: 'prometheus', uid: '1', groups: ['g'], extra: { scopes: ['metrics'] } };
  const { reviews, sent } = bench({ body: { status: { allowed: true } } });
  expect(await reviews.mayGet(user, '/metrics')).toBe(true);
  expect(sent()).toEqual([
    [
      'https://api.test/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        user: 'prometheus',
        uid: '1',
        groups: ['g'],
        extra: { scopes: ['metrics'] },
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    ],
  ]);
});

test.each([[{ allowed: false }], [{ allowed: true, denied: true }], [{}]])(
  'mayGet() says no after %j',
  async (status) => {
    expect(await bench({ body: { status } }).reviews.mayGet({ username: 'x' }, '/metrics')).toBe(false);
  },
);

test('a login of ours that has expired is renewed once', async () => {
  const { reviews, renewed } = bench(
    { status: 401, body: 'Unauthorized' },
    { body: { status: { authenticated: true, user: { username: 'prometheus' } } } },
  );
  expect(await reviews.authenticate('theirs')).toEqual({ username: 'prometheus' });
  expect(renewed).toEqual([false, true]);
  const { reviews: others } = bench({ status: 401, body: '' }, { status: 401, body: '' });
  await expect(others.authenticate('theirs')).rejects.toThrow('HTTP 401');
});

test.each([
  [{ status: 403, body: 'forbidden' }, 'tokenreviews: HTTP 403'],
  [{ body: 'no JSON' }, 'The answer has no status'],
  [{ body: 'null' }, 'The answer has no status'],
  [{ body: {} }, 'The answer has no status'],
])('there is no verdict without a proper answer: %j', async (answer, message) => {
  const verdict = bench(answer).reviews.authenticate('theirs');
  await expect(verdict).rejects.toThrow(message);
  await expect(verdict).rejects.not.toThrow('theirs');
});
