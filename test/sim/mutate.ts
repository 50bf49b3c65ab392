import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

/** A deliberate mistake in the operator. */
export interface Mutation {
  readonly name: string;
  /** What the operator does wrong then, for people. */
  readonly about: string;
  /** In a file below src/, text that stands there once, and what stands there instead. */
  readonly changes: readonly (readonly [file: string, before: string, after: string])[];
  /** Where to look for it: plans without strikes, such as `deploy replicas=2`. All faults are tried at all their effects. */
  readonly hunt: readonly string[];
}

const ROOT = new URL('../../', import.meta.url).href;
const MARK = 'mutation';
const mutations = new Map<string, Mutation>();
let hooked = false;

/** Loads this module, and all that it imports of the project, anew and with the mutation. */
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
      return { ...resolved, url: `${resolved.url}?${MARK}=${name}` };
    },
    load(url, context, next) {
      const mutation = mutations.get(nameIn(url) ?? '');
      const file = pathOf(url).replace(`${ROOT}src/`, '');
      if (mutation?.changes.some(([changed]) => changed === file) !== true) return next(url, context);
      return { format: 'module', shortCircuit: true, source: stripTypeScriptTypes(mutated(mutation, file)) };
    },
  });
}

/** The file with its changes. Throws an Error where a text to replace is not there, or more than once. */
export function mutated({ name, changes }: Mutation, file: string): string {
  let source = readFileSync(new URL(`src/${file}`, ROOT), 'utf8');
  for (const [changed, before, after] of changes) {
    if (changed !== file) continue;
    const parts = source.split(before);
    if (parts.length !== 2)
      throw new Error(
        `Mutation ${name} does not fit any more: "${before}" stands ${parts.length - 1} times in src/${file}`,
      );
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
