import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { beforeAll, describe, expect, test } from 'vitest';
import { definitions } from '../../src/kinds/definitions.ts';
import { type LuaAnswer, runLua } from '../../tools/lua/lua.ts';
import { documentedWords } from '../support/conditions-document.ts';
import { ROOT } from '../support/readme.ts';
import { argocdFiles, CUSTOMIZATIONS } from './argocd-files.ts';
import { type Fixture, type FixtureObject, fixtures } from './fixtures.ts';
import { meanings } from './meanings.ts';
import { everythingTold, toldBy } from './told.ts';

const BUILD_MS = 10 * 60_000;
const KINDS = definitions.map(({ kind }) => kind);

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const script = (kind: string, path = 'health.lua') => read(`${CUSTOMIZATIONS}/${kind}/${path}`);

let all: readonly Fixture[];

beforeAll(async () => {
  all = await fixtures();
  const warm = await runLua([], { log: console.log });
  expect(warm).toEqual([]);
}, BUILD_MS);

async function health(tasks: readonly { readonly kind: string; readonly object: object }[]) {
  return (await runLua(tasks.map(({ kind, object }) => ({ script: script(kind), object })))).map(resultOf);
}

function resultOf(answer: LuaAnswer): unknown {
  return 'result' in answer ? answer.result : answer;
}

describe('deploy/argocd', () => {
  test('is what follows from its scripts and from what the operator writes (if not: UPDATE_DOCS=1)', () => {
    const files = argocdFiles(all);
    if (process.env['UPDATE_DOCS'] === '1') {
      for (const [path, text] of files) {
        mkdirSync(join(ROOT, dirname(path)), { recursive: true });
        writeFileSync(join(ROOT, path), text);
      }
    }
    const stale = [...files].filter(([path, text]) => shapeOf(path, read(path)) !== shapeOf(path, text));
    expect(stale.map(([path]) => path)).toEqual([]);
    const there = globSync(`${CUSTOMIZATIONS}/*/{,actions/}testdata/*`, { cwd: ROOT });
    expect(there.filter((path) => !files.has(path))).toEqual([]);
  });
});

/** The parts of an object that decide its health; the wording of messages may change. Other files count as they are. */
function shapeOf(path: string, text: string): string {
  if (path.endsWith('/health_test.yaml')) return text.replaceAll(/^ +(?:deletionM|m)essage:.*(\n {8}.*)*/gm, '');
  if (!path.includes('/testdata/')) return text;
  const { kind, metadata, spec, status } = load(text) as FixtureObject;
  const told = toldBy(kind, status?.conditions ?? []);
  return JSON.stringify([told, metadata.generation, status?.observedGeneration, metadata['annotations'], spec]);
}

describe.each(KINDS)('the health check of %s', (kind) => {
  test('says for each fixture what health_test.yaml expects', async () => {
    const { tests } = load(script(kind, 'health_test.yaml')) as {
      tests: readonly { inputPath: string; healthStatus: unknown }[];
    };
    expect(tests.length).toBeGreaterThanOrEqual(5);
    const objects = tests.map(({ inputPath }) => ({ kind, object: load(script(kind, inputPath)) as object }));
    expect(await health(objects)).toEqual(tests.map(({ healthStatus }) => healthStatus));
  });

  test('is in argocd-cm as it is in the file', () => {
    const { data } = load(read('deploy/argocd/argocd-cm.yaml')) as { data: Readonly<Record<string, string>> };
    expect(data[`resource.customizations.health.mooring.dev_${kind}`]).toBe(script(kind));
  });

  test('gives every documented reason the health of its chapter', async () => {
    const expected = meanings(kind);
    expect(expected.length).toBeGreaterThan(5);
    const found = await health(expected.map(({ object }) => ({ kind, object })));
    expect(found.map((each, index) => ({ ...expected[index], found: each }))).toEqual(
      expected.map((each) => ({ ...each, found: { status: each.argo, message: each.message } })),
    );
  });
});

test('Fixtures cover every health, for each kind', () => {
  for (const kind of KINDS) {
    const healths = new Set(all.filter((fixture) => fixture.kind === kind).map(({ argo }) => argo));
    // A space changes nothing, so a pause holds nothing back.
    const held = kind === 'DatabaseSpace' ? [] : ['Suspended'];
    expect([...healths].toSorted()).toEqual(['Degraded', 'Healthy', 'Progressing', ...held]);
  }
});

test('Every documented reason of Ready is judged for some kind', () => {
  const judged = new Set(KINDS.flatMap((kind) => meanings(kind).map(({ reason }) => reason)));
  const ofReady = documentedWords().filter(
    ({ chapter, on }) => chapter !== 'Condition types' && on.some((name) => name === 'all' || KINDS.includes(name)),
  );
  expect(ofReady.length).toBeGreaterThan(50);
  expect(ofReady.filter(({ word }) => !judged.has(word)).map(({ word }) => word)).toEqual([]);
});

test('The operator reports reasons in the ways of their chapters', { timeout: 120_000 }, async () => {
  const told = await everythingTold();
  expect(told.size).toBeGreaterThan(15);
  const expected = new Set(
    KINDS.flatMap((kind) => meanings(kind).map(({ object }) => toldBy(kind, object.status?.conditions ?? []))),
  );
  expect([...told].filter((way) => !expected.has(way))).toEqual([]);
});
