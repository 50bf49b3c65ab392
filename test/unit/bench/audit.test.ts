import { expect, it } from 'vitest';
import { listsIn } from '../../bench/measure/audit.ts';

const OURS = 'system:serviceaccount:mooring-system:mooring';

function event(verb: string, requestURI: string, { username = OURS, stage = 'ResponseComplete' } = {}): string {
  const resource = /v1[a-z0-9]*\/(?:namespaces\/[^/]+\/)?([a-z]+)/.exec(requestURI)?.[1];
  return JSON.stringify({ stage, verb, requestURI, user: { username }, objectRef: { resource } });
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
  expect(Object.fromEntries(listsIn(log.join('\n'), OURS))).toEqual({ databaseclusters: 1, secrets: 1 });
});
