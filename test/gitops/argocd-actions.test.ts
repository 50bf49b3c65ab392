import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { runLua } from '../../tools/lua/lua.ts';
import { ROOT } from '../support/readme.ts';
import { CUSTOMIZATIONS } from './argocd-files.ts';
import { objectWith } from './fixtures.ts';

const BUILD_MS = 10 * 60_000;

const script = (kind: string, path: string) => readFileSync(join(ROOT, CUSTOMIZATIONS, kind, 'actions', path), 'utf8');

async function runOne(kind: string, path: string, object: object): Promise<unknown> {
  const [answer] = await runLua([{ script: script(kind, path), object }], { log: console.log });
  return answer !== undefined && 'result' in answer ? answer.result : answer;
}

const object = (kind: string, state = 'Running', metadata: object = {}) =>
  objectWith(kind, [], { spec: { clusterID: 'orders', state }, metadata });

describe('actions of Argo CD', { timeout: BUILD_MS }, () => {
  test.each([
    ['Running', {}, { suspend: false, resume: true, rotate: false, reconcile: undefined }],
    ['Suspended', {}, { suspend: true, resume: false, rotate: false, reconcile: undefined }],
    ['Running', { deletionTimestamp: 'now' }, { suspend: true, resume: true, rotate: true, reconcile: undefined }],
  ])('are offered for a DatabaseCluster that should be %s, %j', async (state, metadata, disabled) => {
    const offered = await runOne('DatabaseCluster', 'discovery.lua', object('DatabaseCluster', state, metadata));
    const found = Object.entries(offered as Record<string, { disabled?: boolean }>);
    expect(Object.fromEntries(found.map(([name, action]) => [name, action.disabled]))).toEqual(disabled);
  });

  test.each([
    ['DatabaseSpace', ['reconcile']],
    ['DatabaseUser', ['reconcile', 'rotate']],
    ['Database', ['reconcile']],
  ])('are offered for a %s: %j', async (kind, names) => {
    expect(Object.keys((await runOne(kind, 'discovery.lua', object(kind))) as object).toSorted()).toEqual(names);
  });

  test('do what action_test.yaml expects', async () => {
    const { actionTests } = load(script('DatabaseCluster', 'action_test.yaml')) as {
      actionTests: readonly { action: string; inputPath: string; expectedOutputPath: string }[];
    };
    expect(actionTests.map(({ action }) => action)).toEqual(['suspend', 'resume']);
    for (const { action, inputPath, expectedOutputPath } of actionTests) {
      const input = load(script('DatabaseCluster', inputPath)) as object;
      const output = load(script('DatabaseCluster', expectedOutputPath));
      expect(await runOne('DatabaseCluster', `${action}/action.lua`, input)).toEqual(output);
    }
  });

  test.each([
    ['suspend', 'Suspended'],
    ['resume', 'Running'],
  ])('%s sets the state in the spec, and nothing else', async (action, state) => {
    const before = object('DatabaseCluster', 'other');
    expect(await runOne('DatabaseCluster', `${action}/action.lua`, before)).toMatchObject({
      metadata: before.metadata,
      spec: { clusterID: 'orders', state },
    });
  });

  test.each([
    ['DatabaseCluster', 'rotate', 'rotate-at'],
    ['DatabaseUser', 'rotate', 'rotate-at'],
    ['DatabaseCluster', 'reconcile', 'reconcile-at'],
    ['DatabaseSpace', 'reconcile', 'reconcile-at'],
    ['Database', 'reconcile', 'reconcile-at'],
  ])('of a %s, %s annotates mooring.dev/%s with the time', async (kind, action, annotation) => {
    for (const annotations of [undefined, { kept: 'yes', [`mooring.dev/${annotation}`]: 'before' }]) {
      const metadata = annotations === undefined ? {} : { annotations };
      const after = await runOne(kind, `${action}/action.lua`, object(kind, 'Running', metadata));
      const { metadata: changed } = after as { metadata: { annotations: Readonly<Record<string, string>> } };
      expect(changed.annotations).toEqual({
        ...(annotations === undefined ? {} : { kept: 'yes' }),
        [`mooring.dev/${annotation}`]: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      });
    }
  });
});
