import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

/** A deliberate mistake in the operator. */
export interface Mutation {
  readonly name: string;
  /** What the operator does wrong, for people. */
  readonly about: string;
  /** In a file below src/, text that occurs once, and what replaces it. */
  readonly changes: readonly (readonly [file: string, before: string, after: string])[];
  /**
   * Where to look for it: plans such as `deploy replicas=2`. If a plan has no strikes, all faults are tried at all its effects. One
   * that found it before may come first, and saves the others.
   */
  readonly hunt: readonly string[];
}

const ROOT = new URL('../../', import.meta.url).href;
const MARK = 'mutation';
const mutations = new Map<string, Mutation>();
/** The text of each module of the project without types, by its URL. */
const stripped = new Map<string, string>();
/** For each mutation, which modules it touches. All others stay loaded, and as fast as they have become. */
const touched = new Map<string, Map<string, boolean>>();
/** Which others each module of the project imports. */
const imported = new Map<string, readonly string[]>();
let hooked = false;

/** Loads the module again with the mutation, and so all modules of the project that it imports and that depend on the change. */
export function importMutated(mutation: Mutation, path: string): Promise<unknown> {
  mutations.set(mutation.name, mutation);
  if (!hooked) hook();
  hooked = true;
  return import(`${new URL(path, import.meta.url).href}?${MARK}=${mutation.name}`);
}

function hook(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const name = nameIn(context.parentURL);
      if (name === undefined || !isOurs(resolved.url) || nameIn(resolved.url) !== undefined) return resolved;
      return isTouched(resolved.url, name) ? { ...resolved, url: `${resolved.url}?${MARK}=${name}` } : resolved;
    },
    load(url, context, next) {
      const mutation = mutations.get(nameIn(url) ?? '');
      if (mutation === undefined) return next(url, context);
      const file = pathOf(url);
      const source = isChanged(mutation, file) ? stripTypeScriptTypes(mutated(mutation, inSrc(file))) : unchanged(file);
      return { format: 'module', shortCircuit: true, source };
    },
  });
}

function isChanged({ changes }: Mutation, url: string): boolean {
  return changes.some(([changed]) => changed === inSrc(url));
}

function inSrc(url: string): string {
  return url.replace(`${ROOT}src/`, '');
}

function unchanged(url: string): string {
  const known = stripped.get(url);
  if (known !== undefined) return known;
  const source = stripTypeScriptTypes(readFileSync(new URL(url), 'utf8'));
  stripped.set(url, source);
  return source;
}

/** Reports whether the mutation changes the module, or one that it imports, directly or not. */
function isTouched(url: string, name: string): boolean {
  const known = touched.get(name) ?? new Map<string, boolean>();
  touched.set(name, known);
  const mutation = mutations.get(name);
  const is = known.get(url) ?? (mutation !== undefined && reachedFrom(url).some((each) => isChanged(mutation, each)));
  known.set(url, is);
  return is;
}

/** Returns the module, and all that it imports, directly or not. */
function reachedFrom(url: string): readonly string[] {
  const reached = new Set([url]);
  for (const each of reached) for (const next of importedBy(each)) reached.add(next);
  return [...reached];
}

/** Returns the modules of the project that it imports, and perhaps more: some text only looks like an import. */
function importedBy(url: string): readonly string[] {
  const known = imported.get(url);
  if (known !== undefined) return known;
  const paths = unchanged(url).matchAll(/\b(?:from|import)[\s(]*'(\.[^']+\.ts)'/g);
  const urls = [...paths].map(([, path = '']) => new URL(path, url).href);
  imported.set(url, urls);
  return urls;
}

/** Returns the file with its changes. Throws an Error unless each text to replace occurs exactly once. */
export function mutated({ name, changes }: Mutation, file: string): string {
  let source = readFileSync(new URL(`src/${file}`, ROOT), 'utf8');
  for (const [changed, before, after] of changes) {
    if (changed !== file) continue;
    const parts = source.split(before);
    if (parts.length !== 2)
      throw new Error(`Mutation ${name} no longer fits: "${before}" occurs ${parts.length - 1} times in src/${file}`);
    source = parts.join(after);
  }
  return source;
}

function isOurs(url: string): boolean {
  return url.startsWith(ROOT) && !url.includes('/node_modules/');
}

function nameIn(url: string | undefined): string | undefined {
  return url === undefined || !url.startsWith('file:') ? undefined : (new URL(url).searchParams.get(MARK) ?? undefined);
}

function pathOf(url: string): string {
  return url.split('?')[0] ?? url;
}
