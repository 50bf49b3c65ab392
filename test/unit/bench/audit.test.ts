import { expect, it } from 'vitest';
import { listsIn } from '../../bench/measure/audit.ts';

const OURS = 'system:serviceaccount:mooring-system:mooring';

function event(
  verb: string,
  requestURI: string,
  { username = OURS, stage = 'ResponseComplete', code = 200 } = {},
): string {
  const resource = /v1[a-z0-9]*\/(?:namespaces\/[^/]+\/)?([a-z]+)/.exec(requestURI)?.[1];
  return JSON.stringify({
    stage,
    verb,
    requestURI,
    user: { username },
    objectRef: { resource },
    responseStatus: { code },
  });
}

it('listsIn() counts the lists of one user, each once however many pages it has', () => {
  const log = [
    event('list', '/apis/mooring.dev/v1alpha1/databaseclusters?limit=500'),
    event('list', '/apis/mooring.dev/v1alpha1/databaseclusters?limit=500&continue=abc'),
    event('list', '/apis/mooring.dev/v1alpha1/databaseclusters?limit=500', { username: 'admin' }),
    event('list', '/apis/mooring.dev/v1alpha1/databaseclusters?limit=500', { stage: 'ResponseStarted' }),
    event('watch', '/apis/mooring.dev/v1alpha1/databaseclusters?watch=true', { stage: 'ResponseStarted' }),
    event('watch', '/api/v1/secrets?watch=true&sendInitialEvents=true', { stage: 'ResponseStarted' }),
    event('watch', '/api/v1/secrets?watch=true&sendInitialEvents=true'),
    event('get', '/api/v1/namespaces/bench/secrets/cloud-write'),
    '',
  ];
  expect(listsIn(log.join('\n'), OURS)).toEqual({
    answered: new Map(Object.entries({ databaseclusters: 1, secrets: 1 })),
    refused: 0,
  });
});

it('listsIn() counts apart the lists that an API server refuses as it starts', () => {
  const asStream = '/apis/mooring.dev/v1alpha1/databases?watch=true&sendInitialEvents=true';
  const log = [
    event('watch', asStream, { stage: 'ResponseStarted', code: 429 }),
    event('watch', asStream, { code: 429 }),
    event('watch', asStream, { stage: 'ResponseStarted' }),
    event('list', '/apis/mooring.dev/v1alpha1/databases?limit=500', { code: 403 }),
  ];
  expect(listsIn(log.join('\n'), OURS)).toEqual({ answered: new Map([['databases', 1]]), refused: 2 });
});
