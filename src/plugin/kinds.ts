import { GROUP, VERSION } from '../base/group.ts';
import { didYouMean } from '../base/nearest.ts';
import { definitions } from '../kinds/definitions.ts';
import type { Resource } from '../kube/api.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import { UsageError } from './command-line/arguments.ts';
import type { Reached } from './command-line/reach.ts';
import { type NodeName, splitNode } from './node-name.ts';

/** The kind of this name, as it is in a manifest; undefined: it is none of ours. */
export function definitionOf(kind: string | undefined): ResourceDefinition | undefined {
  return definitions.find((each) => each.kind === kind);
}

export function resourceOf({ plural, kind }: ResourceDefinition): Resource {
  return { group: GROUP, version: VERSION, plural, kind };
}

/** The command that does this to the object. */
export function commandFor(
  name: string,
  { kind, metadata }: { readonly kind: string; readonly metadata: Named },
  { reach = '' }: Reached,
): string {
  return `kubectl mooring ${name} ${kind.toLowerCase()}/${metadata.name} --namespace ${metadata.namespace ?? ''}${reach}`;
}

/** `names`: the names of that kind in that namespace. `reach`: from `reachOf`. */
export function notThere(node: NodeName, names: readonly string[], reach: string): string {
  const meant = didYouMean(splitNode(node).name, names, (name) => `"${name}"`);
  const all = `kubectl mooring status --all-namespaces${reach} lists what exists`;
  return `${node} does not exist: check its name and --namespace; ${all}${meant === '' ? '' : `.${meant}`}`;
}

interface Named {
  readonly name: string;
  readonly namespace?: string;
}

/** Parses `KIND/NAME …` or `KIND NAME …`, as kubectl does. Throws UsageError. */
export function parseTargets(words: readonly string[]): readonly ReturnType<typeof parseTarget>[] {
  const [kind = '', ...names] = words;
  if (words.some((word) => word.includes('/')) || names.length === 0) return words.map((word) => parseTarget([word]));
  return names.map((name) => parseTarget([kind, name]));
}

/** Parses `KIND/NAME` or `KIND NAME`, with any of the kind's names, as kubectl does. Throws UsageError. */
export function parseTarget(words: readonly string[]): {
  readonly definition: ResourceDefinition;
  readonly name: string;
} {
  const [first = '', second] = words;
  const slash = first.indexOf('/');
  const [word, name] = slash < 0 ? [first, second] : [first.slice(0, slash), first.slice(slash + 1)];
  if (name === undefined || name === '' || words.length > (slash < 0 ? 2 : 1))
    throw new UsageError(
      `Name one object, such as databasecluster/orders${words.length === 0 ? '' : `, not "${words.join(' ')}"`}`,
    );
  return { definition: definitionNamed(word), name };
}

/** Parses `NAME` or `KIND/NAME` if only one kind is possible. Throws UsageError. */
export function parseName(word: string, { kind, singular }: ResourceDefinition): string {
  const slash = word.indexOf('/');
  const name = word.slice(slash + 1);
  if (name === '') throw new UsageError(`Name a ${kind}: NAME or ${singular}/NAME`);
  if (slash >= 0 && definitionNamed(word.slice(0, slash)).kind !== kind)
    throw new UsageError(`"${word}" is not a ${kind}: write NAME or ${singular}/NAME`);
  return name;
}

/** By any of the names that kubectl knows. Throws UsageError. */
function definitionNamed(word: string): ResourceDefinition {
  const [wanted = '', ...place] = word.toLowerCase().split('.');
  // Other operators have a kind Database too.
  const isOurs = ['', GROUP, `${VERSION}.${GROUP}`].includes(place.join('.'));
  const found = definitions.find(
    ({ plural, singular, shortNames }) => isOurs && [plural, singular, ...shortNames].includes(wanted),
  );
  if (found !== undefined) return found;
  const names = definitions.map(({ singular, shortNames }) => [singular, ...shortNames].join(' or '));
  throw new UsageError(`There is no kind "${word}": use ${names.join(', ')}`);
}
