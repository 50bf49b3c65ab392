import { globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { FLAGS, variableOf } from '../../src/config.ts';
import { createMetrics } from '../../src/operator/metrics.ts';
import { ownRules, policyRules } from '../../src/rbac.ts';
import { WORKERS_IN_ALL } from '../../src/runtime/workqueue.ts';
import { readRepository } from '../../tools/site/repository.ts';
import { readSite } from '../../tools/site/site.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';

/** Returns the cells of all table rows in the text. */
function rows(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

const bare = (cell: string | undefined) => (cell ?? '').replaceAll('`', '');

/** Returns the part of a document from one heading to the next of the same level. */
function chapter(document: string, heading: string): string {
  return document.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
}

function sources(...patterns: readonly string[]): readonly string[] {
  return globSync([...patterns], { cwd: ROOT, exclude: ['**/*.test.ts'] }).map(readDocument);
}

test('All documents can be shown as a site: each link and anchor leads somewhere, and the menu has every page', () => {
  const site = readSite(readRepository(ROOT));
  expect(site.problems).toEqual([]);
  expect([...site.documents.keys()]).toEqual(
    expect.arrayContaining(['CONTRIBUTING.md', 'src/README.md', 'charts/mooring/README.md']),
  );
});

test('Documents and dashboard say how many workers there are while servers hang', () => {
  const words: Readonly<Record<number, string>> = { 11: 'eleven', 12: 'twelve', 13: 'thirteen' };
  const times = `up to ${words[WORKERS_IN_ALL]} times`;
  for (const path of ['docs/operator.md', 'docs/metrics.md', 'charts/mooring/files/grafana/mooring.json'])
    expect(readDocument(path), path).toContain(times);
  expect(readDocument('docs/metrics.md')).toMatch(new RegExp(`up to\\s${10 * WORKERS_IN_ALL} where much hangs`));
});

describe('README.md', () => {
  const blocks = shellBlocks(readDocument('README.md'));
  const scripts = JSON.parse(readDocument('package.json')).scripts as Readonly<Record<string, string>>;

  test('says for each command how it is tested', () => {
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.filter((block) => block.test === undefined)).toEqual([]);
  });

  test('names the tests that run its other commands', () => {
    const others = blocks.filter(({ test }) => test !== 'in order' && test !== 'in the background');
    expect(others).toEqual([
      { commands: 'npm run demo', test: 'test/process/demo.test.ts' },
      { commands: 'npm test', test: '.ci/run' },
      { commands: expect.stringMatching(/^docker build /), test: 'test/process/image.test.ts' },
      { commands: expect.stringMatching(/^helm install /), test: 'test/chart/install.test.ts' },
      { commands: expect.stringContaining('--take-ownership'), test: 'test/chart/install.test.ts' },
      { commands: expect.stringContaining('deploy/install.yaml'), test: 'test/chart/install.test.ts' },
    ]);
    // The tag is the one that the chart asks for.
    const { version } = JSON.parse(readDocument('package.json')) as { version: string };
    const image = `registry.example.com/mooring:${version}`;
    expect(others[2]?.commands).toBe(`docker build --tag=${image} .\ndocker push ${image}`);
    expect(readDocument('test/process/image.test.ts')).toContain('buildTree(');
    expect(shellBlocks(readDocument('docs/index.md'))).toEqual(others.slice(0, 1));
    expect(readDocument('test/chart/install.test.ts')).toContain("blocksIn('README.md')");
    expect(scripts['demo']).toBe('node bin/mooring demo');
    expect(readDocument('test/process/demo.test.ts')).toContain("new MooringProcess(['demo'");
    expect(readDocument('.ci/run')).toMatch(/^npm test\b/m);
  });
});

describe('docs/conditions.md', () => {
  const document = readDocument('docs/conditions.md');
  const types = rows(chapter(document, 'Condition types')).map(([type]) => bare(type));
  const reasons = rows(document)
    .map(([reason]) => bare(reason))
    .filter((word) => !types.includes(word));

  test('has every condition type that the code sets, and no other', () => {
    const code = sources('src/kube/summary.ts', 'src/kinds/*/**/*.ts');
    const found = code.flatMap((text) =>
      [...text.matchAll(/\btype(?::| =) '([A-Z]\w+)'/g)].map((match) => match[1] ?? ''),
    );
    expect(sorted(types)).toEqual(sorted(found));
  });

  test('has every reason that the code gives, and no other', () => {
    const code = sources(
      // Without the schemas, which are about the spec.
      'src/kinds/{secrets,secret-pace,confirm}.ts',
      'src/kinds/*/**/!(*schema|rules|resource).ts',
      'src/kube/{annotations,failure,summary,untold}.ts',
      'src/runtime/{reconcile,controller}.ts',
    );
    expect(code.length).toBeGreaterThan(15);
    const words = code.flatMap(wordsIn).filter((word) => !types.includes(word) && !NO_REASONS.has(word));
    expect(sorted(reasons)).toEqual(sorted(words));
  });

  test('says what to do wherever a person must act', () => {
    const empty = rows(chapter(document, 'A person must act')).filter(
      (cells) => cells.length !== 4 || cells.includes(''),
    );
    expect(empty).toEqual([]);
  });
});

/** Capitalised words in the sources that are no reasons. A new word is either a reason or belongs here. */
const NO_REASONS: ReadonlySet<string> = new Set([
  ...['True', 'False', 'Unknown'],
  ...['Deploy', 'Clone', 'Suspend', 'Resume', 'Reconcile', 'CreateDatabase', 'Succeeded', 'Failed'],
  ...['DatabaseCluster', 'DatabaseUser'],
  ...['Cloud', 'Server', 'Secret', 'Secrets', 'Opaque', 'Conflict', 'FieldValueForbidden'],
]);

/** Returns capitalised words that are used as a value: not in a comparison, nor as the name of a step, a type, a field or a kind. */
function wordsIn(text: string): readonly string[] {
  const values = text
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replaceAll(/\b(do|kind|plural|type): '\w+'/g, '')
    .replaceAll(/(===|!==|case|\|) '\w+'/g, '');
  const quoted = [...values.matchAll(/'([A-Z][A-Za-z]+)'/g)].map((match) => match[1] ?? '');
  // Of two APIs, one text: `${where}Unreachable`.
  const templates = [...values.matchAll(/`(\w*)\$\{where\}(\w*)`/g)].flatMap(([, before, after]) =>
    ['Cloud', 'Server'].map((where) => `${before}${where}${after}`),
  );
  return [...quoted, ...templates];
}

const sorted = (words: readonly string[]) => [...new Set(words)].toSorted();

test('docs/metrics.md has every metric with its labels, and no other', async () => {
  const document = rows(readDocument('docs/metrics.md')).map(([name, labels]) =>
    `${bare(name)} ${bare(labels)}`.trim(),
  );
  const build = { version: '1', node: '1' };
  const exposed = await createMetrics(systemClock, build).text();
  const ours = [...exposed.matchAll(/^# TYPE (\w+) /gm)]
    .map((match) => match[1] ?? '')
    .filter((name) => !/^(process|nodejs)_/.test(name));
  expect(sorted(document.map((line) => line.split(' ')[0] ?? ''))).toEqual(sorted(ours));
  // While a metric has no value, only its source shows its labels.
  const source = [...sources('src/runtime/metrics.ts'), ...sources('src/operator/metrics.ts')].join();
  const definition = /\b(?:counter|gauge|histogram)\(\s*'(\w+)',\s*(?:'[^']*'|"[^"]*"),\s*\[([^\]]*)\]/g;
  const defined = [...source.matchAll(definition)].map(([, name, labels = '']) => {
    const names = [...labels.matchAll(/'(\w+)'/g)].map((match) => match[1]);
    return `${name} ${names.join(', ')}`.trim();
  });
  expect(sorted(document)).toEqual(sorted(defined));
});

test('CONTRIBUTING.md lists every script', () => {
  const { scripts } = JSON.parse(readDocument('package.json')) as { scripts: Readonly<Record<string, string>> };
  const listed = [...readDocument('CONTRIBUTING.md').matchAll(/^npm (?:run )?([a-z-]+)/gm)].map(
    ([, name = '']) => name,
  );
  expect(sorted(listed)).toEqual(sorted(Object.keys(scripts)));
});

test('Documents mention every command for people', () => {
  const documents = [readDocument('README.md'), ...sources('docs/**/*.md')].join('\n');
  const told = (name: string) =>
    new RegExp(`\\b(?:mooring|npm run) ${name}\\b|^\\|[^|]*\\b${name}\\b[^|]*\\|`, 'm').test(documents);
  const names = Object.entries(COMMANDS).flatMap(([name, { about }]) => (about === undefined ? [] : [name]));
  expect(names.filter((name) => !told(name))).toEqual([]);
});

test('The operator has the rights that documents tell their readers to check', () => {
  const documents = sources('README.md', 'charts/mooring/README.md', 'docs/**/*.md').join('\n');
  const asked = [...documents.matchAll(/can-i (\w+) (\w+)(?:\/(\w+))?/g)];
  expect(asked.length).toBeGreaterThan(0);
  const rules = [...policyRules, ...ownRules.filter(({ when }) => when === undefined)];
  for (const [words, verb = '', resource = '', name = ''] of asked) {
    const isGiven = rules.some(
      ({ verbs, resources, resourceNames = [name] }) =>
        verbs.includes(verb) && resources?.includes(resource) && resourceNames.includes(name),
    );
    expect([words, isGiven]).toEqual([words, true]);
  }
});

test('docs/operator.md has every flag with its variable and default, and no other', () => {
  const table = rows(chapter(readDocument('docs/operator.md'), 'Flags')).map((cells) => cells.slice(0, 3).map(bare));
  const flags = Object.entries(FLAGS).map(([name, { fallback }]) => [`--${name}`, variableOf(name), fallback]);
  expect(table).toEqual(flags);
});

test('docs/operator.md gives the rights that --shard-by-space needs and deploy/ does not hold', () => {
  const [given = ''] =
    readDocument('docs/operator.md').match(/^kubectl create role mooring-shards [^`]*?--verb=\S+/m) ?? [];
  const missing = ownRules.filter(({ when }) => when?.includes('shardBySpace'));
  expect(missing).toHaveLength(1);
  for (const { apiGroups, resources, verbs } of missing)
    expect(given).toContain(`--resource=${resources?.[0]}.${apiGroups?.[0]} --verb=${verbs.join()}`);
});

test('docs/operator.md has every annotation, and no other', () => {
  const table = rows(chapter(readDocument('docs/operator.md'), 'Annotations')).map(
    ([text]) => bare(text).split(':')[0],
  );
  const constants = sources('src/kinds/**/*.ts', 'src/kube/*.ts').flatMap((text) => [
    ...text.matchAll(/const (\w+) = `\$\{GROUP\}\/([a-z-]+)`/g),
  ]);
  const annotations = constants.filter(([, name]) => !name?.endsWith('_LABEL') && !name?.endsWith('FINALIZER'));
  expect(table.toSorted()).toEqual(annotations.map((match) => `mooring.dev/${match[2]}`).toSorted());
});
