import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/*
 * Style that matters, as a test: what a reviewer would otherwise have to look for. Each test lists what breaks its rule, so
 * that the failure names the file.
 */

const ROOT = join(import.meta.dirname, '..');

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', '-z'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => path !== '');
const texts = new Map<string, string>();
for (const path of tracked) {
  try {
    texts.set(path, readFileSync(join(ROOT, path), 'utf8'));
  } catch {
    // Tracked and deleted, but not committed yet.
  }
}
const paths = [...texts.keys()];
const textOf = (path: string) => texts.get(path) ?? '';
const isTest = (path: string) => path.startsWith('test/') || path.endsWith('.test.ts');
const sources = paths.filter((path) => /\.(ts|mts|mjs)$/.test(path));
const product = sources.filter((path) => path.startsWith('src/') && !isTest(path));

/** Modules that a file imports, statically, as types, or when needed: ours as paths from the root, others by name. */
const imports = new Map(sources.map((path) => [path, importsOf(path)] as const));

function importsOf(path: string): readonly string[] {
  const found = textOf(path).matchAll(
    /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/g,
  );
  return [...found].map(([, fixed, lazy]) => {
    const name = fixed ?? lazy ?? '';
    return name.startsWith('.') ? normalize(join(dirname(path), name)) : name;
  });
}

/** The text without comments, so that a rule may be explained where it holds. */
function codeOf(path: string): string {
  return textOf(path).replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}

/** `src/kinds/databasespace/observe.ts` → `kinds`; a file of src itself is called by its name. */
function layerOf(path: string): string {
  const [, first = ''] = path.split('/');
  return first.replace(/\.ts$/, '');
}

/** From left to right, as src/README.md has it: a layer sees itself and what is named. */
const SEES: Readonly<Record<string, readonly string[]>> = {
  base: [],
  http: ['base'],
  cloud: ['base', 'http'],
  database: ['base', 'http'],
  kube: ['base', 'http'],
  runtime: ['base', 'kube'],
  serving: ['base', 'kube'],
  kinds: ['base', 'http', 'cloud', 'database', 'kube', 'runtime'],
  simulator: ['base'],
  version: [],
  config: ['base', 'http', 'kube', 'serving'],
  rbac: ['base', 'kinds'],
  operator: ['base', 'kube', 'runtime', 'kinds'],
  plugin: ['base', 'http', 'cloud', 'database', 'kube', 'kinds'],
  sandbox: ['base', 'kube'],
  plan: ['base', 'cloud', 'database', 'kube', 'runtime', 'kinds', 'operator', 'simulator', 'sandbox', 'plugin'],
  crdgen: ['base', 'kube', 'kinds', 'rbac'],
  commands: [
    ...['base', 'http', 'kube', 'runtime', 'serving', 'kinds', 'operator', 'plugin', 'plan', 'simulator'],
    ...['config', 'crdgen', 'version'],
  ],
  main: ['base', 'plugin', 'commands', 'version'],
};

test('Imports go one way only', () => {
  const wrong = product.flatMap((path) => {
    const layer = layerOf(path);
    const seen = new Set([layer, ...(SEES[layer] ?? [])]);
    return (imports.get(path) ?? [])
      .filter((imported) => imported.startsWith('src/') && !seen.has(layerOf(imported)))
      .map((imported) => `${path} imports ${imported}`);
  });
  expect(wrong).toEqual([]);
});

test('What a layer may see is no more than it does see', () => {
  const seen = product.flatMap((path) => (imports.get(path) ?? []).map((name) => `${layerOf(path)} ${layerOf(name)}`));
  const allowed = Object.entries(SEES).flatMap(([layer, others]) => others.map((other) => `${layer} ${other}`));
  expect(allowed.filter((each) => !seen.includes(each))).toEqual([]);
});

test('No files import each other in a circle', () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    const start = way.indexOf(path);
    if (start >= 0) circles.push([...way.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const imported of imports.get(path) ?? []) if (texts.has(imported)) visit(imported, [...way, path]);
    done.add(path);
  };
  for (const path of sources.filter((each) => !isTest(each))) visit(path, []);
  expect(circles).toEqual([]);
});

test('Product code imports no tests', () => {
  const wrong = product.filter((path) => imports.get(path)?.some((imported) => isTest(imported)));
  expect(wrong).toEqual([]);
});

test.each([
  ['undici', 'src/http/undici.ts'],
  ['@kubernetes/client-node', 'src/kube/connection/kubeconfig.ts'],
  ['prom-client', 'src/base/metrics-registry.ts'],
  ['pino', 'src/base/log.ts'],
  ['@opentelemetry/api', 'src/base/trace.ts'],
])('Only one file knows %s', (name, owner) => {
  const wrong = product.filter(
    (path) =>
      path !== owner && imports.get(path)?.some((imported) => imported === name || imported.startsWith(`${name}/`)),
  );
  expect(wrong).toEqual([]);
});

test('Time and chance come through Clock and Random', () => {
  const BANNED =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b|\bperformance\.now\b|\brandomUUID\b|\brandomBytes\b/g;
  const exempt = (path: string) =>
    ['src/base/', 'src/commands/', 'src/main.ts'].some((start) => path.startsWith(start));
  const wrong = product
    .filter((path) => !exempt(path))
    .flatMap((path) => [...codeOf(path).matchAll(BANNED)].map(([found]) => `${path}: ${found}`));
  expect(wrong).toEqual([]);
});

test('Only src/main.ts, src/commands and the kubeconfig read the environment', () => {
  const allowed = (path: string) =>
    path.startsWith('src/commands/') ||
    ['src/main.ts', 'src/crdgen.ts', 'src/kube/connection/config.ts'].includes(path);
  expect(product.filter((path) => !allowed(path) && /\bprocess\.env\b/.test(codeOf(path)))).toEqual([]);
});

test('After a colon a message goes on with a small letter, unless a name follows', () => {
  const CAPITAL = /(?<!\b[a-z]+[A-Z]\w*): (?!Mooring\b)[A-Z][a-z]+ [a-z]+/g;
  const wrong = product
    .filter((path) => path.startsWith('src/kinds/'))
    .flatMap((path) => [...codeOf(path).matchAll(CAPITAL)].map(([found]) => `${path}${found}`));
  expect(wrong).toEqual([]);
});

test('Files have at most 400 lines, except tests: a table reads better whole', () => {
  const wrong = sources.filter((path) => !isTest(path) && textOf(path).split('\n').length > 401);
  expect(wrong).toEqual([]);
});

test('The controller runtime is small enough to be known: below 2,000 lines without its tests', () => {
  const files = product.filter((path) => path.startsWith('src/runtime/'));
  const lines = files.reduce((sum, path) => sum + textOf(path).split('\n').length - 1, 0);
  expect(lines).toBeLessThan(2_000);
});

test('Nothing is exported by default, but what vitest asks for', () => {
  const wrong = sources.filter((path) => path !== 'vitest.config.ts' && /^export default\b/m.test(codeOf(path)));
  expect(wrong).toEqual([]);
});

test('No file of src is dead: each is reached from a command or is itself a test', () => {
  const reached = new Set<string>();
  const visit = (path: string) => {
    if (reached.has(path) || !texts.has(path)) return;
    reached.add(path);
    imports.get(path)?.forEach(visit);
  };
  ['src/main.ts', 'src/crdgen.ts'].forEach(visit);
  expect(product.filter((path) => !reached.has(path))).toEqual([]);
});

test('No test is left out, or keeps others out, and nothing is left to do', () => {
  const LEFT = /\b(?:test|it|describe)\.(?:only|skip|todo|fails)\b|\b(?:TODO|FIXME|XXX)\b/g;
  const wrong = sources
    .filter((path) => path !== 'test/tidy.test.ts')
    .flatMap((path) => [...textOf(path).matchAll(LEFT)].map(([found]) => `${path}: ${found}`));
  expect(wrong).toEqual([]);
});

test('No check is turned off without a reason', () => {
  const wrong = sources
    .filter((path) => path !== 'test/tidy.test.ts')
    .flatMap((path) =>
      textOf(path)
        .split('\n')
        .filter((line) => /@ts-(?:ignore|nocheck|expect-error)/.test(line) || /biome-ignore[^:]*:\s*$/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(wrong).toEqual([]);
});

test('No file names a package registry or a place on somebody’s machine', () => {
  // After a colon stands a place in a container.
  const PRIVATE =
    /registry\.npmjs|npmjs\.org|"resolved":|proxy\.golang|(?<!:)\/(?:root|home\/[a-z]+|Users\/[a-z]+)\/|\/work\//g;
  const wrong = paths
    .filter((path) => path !== 'test/tidy.test.ts')
    .flatMap((path) => [...new Set([...textOf(path).matchAll(PRIVATE)].map(([found]) => `${path}: ${found}`))]);
  expect(wrong).toEqual([]);
});
