import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { messageOf } from '../base/errors.ts';
import { API_VERSION, GROUP, isOfGroup } from '../base/group.ts';
import { isRecord, recordOf } from '../base/is-record.ts';
import { AS_KUBECTL } from '../base/kubectl-yaml.ts';
import { nearest } from '../base/nearest.ts';
import { yamlProblemWords } from '../base/yaml-problem.ts';
import { definitions } from '../kinds/definitions.ts';
import { CONFIG_MAPS, NAMESPACES, type Resource, SECRETS } from '../kube/api.ts';
import { type ObjectKey, objectKey } from '../kube/object.ts';
import { UsageError } from '../plugin/command-line/arguments.ts';

/** A manifest as a person wrote it: one of our kinds, or a ConfigMap, Secret or Namespace. */
export interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  /** Set for a Secret. */
  readonly type?: string;
  readonly stringData?: Readonly<Record<string, string>>;
}

export interface Document {
  /** For example `cluster.yaml, document 2`. */
  readonly where: string;
  readonly manifest: Manifest;
  /** It has no name. A stand-in name was set, so that its other mistakes can be reported. */
  readonly isNameless?: true;
}

/** A mistake that keeps a manifest from being applied: where it is, and what would be right. */
export interface Problem {
  readonly where: string;
  readonly text: string;
}

export interface Documents {
  readonly documents: readonly Document[];
  readonly problems: readonly Problem[];
}

/** The manifests of our kinds among them. */
export function oursIn(documents: readonly Document[]): readonly Document[] {
  return documents.filter(({ manifest }) => manifest.apiVersion === API_VERSION);
}

/** The key of the object that the manifest stands for. `namespace`: where it is if the manifest does not say. */
export function keyIn(namespace: string, { metadata }: Manifest): ObjectKey {
  return objectKey(metadata.namespace ?? namespace, metadata.name);
}

/** The manifests of this kind by key; the last one counts. */
export function manifestsOf(
  { kind }: Resource,
  { namespace, documents }: { readonly namespace: string; readonly documents: readonly Document[] },
): ReadonlyMap<ObjectKey, Manifest> {
  const manifests = documents.map(({ manifest }) => manifest).filter((manifest) => manifest.kind === kind);
  return new Map(manifests.map((manifest) => [keyIn(namespace, manifest), manifest]));
}

/**
 * Reads the documents of a plan from files and folders, or from standard input for the path `-`. Other kinds are left out.
 * Throws UsageError if a path cannot be read, or if there is nothing of ours: an empty plan would say that all is well.
 * `input` reads standard input, and is called once at most.
 */
export async function readDocuments(paths: readonly string[], input: () => Promise<string>): Promise<Documents> {
  const piped = paths.includes('-') ? await input() : '';
  const found = [...new Set(paths)]
    .flatMap(filesOf)
    .map((path) => documentsIn(path, path === '-' ? piped : textOf(path)));
  const documents = found.flatMap((each) => each.documents);
  const problems = found.flatMap((each) => each.problems);
  if (problems.length === 0 && oursIn(documents).length === 0)
    throw new UsageError(`There is no object of Mooring in these files: its apiVersion is ${API_VERSION}`);
  return { documents, problems };
}

function filesOf(path: string): readonly string[] {
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).toSorted();
  return names.filter((name) => /\.(ya?ml|json)$/.test(name)).map((name) => join(path, name));
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error).split('\n')[0]}`);
  }
}

/** Exported for its test. `file` is used to say where a document is. */
export function documentsIn(file: string, text: string): Documents {
  const name = file === '-' ? 'standard input' : file;
  const documents: Document[] = [];
  const problems: Problem[] = [];
  let count = 0;
  for (const { source, line } of sourcesIn(text)) {
    let values: readonly unknown[];
    try {
      values = loadAll(source, { schema: AS_KUBECTL });
    } catch (error) {
      problems.push({ where: `${name}, document ${++count}`, text: `is not YAML: ${yamlProblemWords(error, line)}` });
      continue;
    }
    for (const value of values) {
      if (value === null || value === undefined) continue;
      const where = `${name}, document ${++count}`;
      for (const each of itemsOf(value, where)) {
        const wrong = problemsOf(each.value);
        problems.push(...wrong.map((problem) => ({ where: each.where, text: problem })));
        const document = wrong.length > 0 ? mendedDocument(each.value) : { manifest: each.value };
        if (document !== undefined && isWanted(each.value))
          documents.push({ where: each.where, ...document } as unknown as Document);
      }
    }
  }
  return { documents, problems };
}

interface Source {
  readonly source: string;
  /** Its first line, from 0. */
  readonly line: number;
}

/** Splits a file into its documents, so that a mistake in one does not hide the others. */
function sourcesIn(text: string): readonly Source[] {
  const { documents, rest } = leadingJSON(text);
  let line = 0;
  return [...documents, ...yamlSources(rest)].map((source) => {
    const begin = line;
    line += source.split('\n').length - 1;
    return { source, line: begin };
  });
}

/** kubectl takes objects in JSON that begin a file for one document each, whatever is between them, and the rest for YAML. */
function leadingJSON(text: string): { readonly documents: readonly string[]; readonly rest: string } {
  const documents: string[] = [];
  let rest = text;
  for (let end = endOfJSON(rest); end !== undefined; end = endOfJSON(rest)) {
    documents.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return { documents, rest };
}

/** Where the object in JSON ends that the text begins with, if it does. */
function endOfJSON(text: string): number | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token === '}') depth -= 1;
    if (depth === 0) return isJSON(text.slice(0, index + 1)) ? index + 1 : undefined;
  }
  return undefined;
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function yamlSources(text: string): readonly string[] {
  // Directives come before the `---` of their document.
  return /^%/m.test(text) ? [text] : text.split(/^---(?=\s|$)/m);
}

/** The items of a `List`, or of a `DatabaseUserList` as the API server writes it, and of those in it. */
function itemsOf(value: unknown, where: string): readonly { readonly value: unknown; readonly where: string }[] {
  if (!isRecord(value) || !String(value['kind']).endsWith('List') || !Array.isArray(value['items']))
    return [{ value: placed(value), where }];
  return value['items'].flatMap((item: unknown, index) => itemsOf(item, `${where}, item ${index + 1}`));
}

/** An empty namespace, as templates may leave it, is none. */
function placed(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const { namespace, ...metadata } = recordOf(value['metadata']);
  return namespace === '' || namespace === null ? { ...value, metadata } : value;
}

const KINDS = definitions.map(({ kind }) => kind);

function isOurs({ apiVersion, kind }: Readonly<Record<string, unknown>>): boolean {
  return isOfGroup(String(apiVersion)) || (KINDS.includes(String(kind)) && !isOfOthers(apiVersion));
}

/** Reports whether the apiVersion names the group of another operator, which may have a kind Database too, and no misspelt one. */
function isOfOthers(apiVersion: unknown): boolean {
  const [, group = ''] = /^([^/]+\.[^/]+)\//.exec(String(apiVersion)) ?? [];
  return group !== '' && nearest(group, [GROUP]) === undefined;
}

const CORE_KINDS = [CONFIG_MAPS.kind, SECRETS.kind, NAMESPACES.kind];

function isWanted(value: unknown): boolean {
  if (!isRecord(value)) return false;
  // Others have a kind Secret or Namespace, too.
  const isCore = value['apiVersion'] === CONFIG_MAPS.version && CORE_KINDS.includes(String(value['kind']));
  return isOurs(value) || isCore;
}

/** Puts right what is outside the spec, so that other mistakes can be reported too; undefined if the kind does not say which. */
function mendedDocument(value: unknown): object | undefined {
  if (!isRecord(value) || !KINDS.includes(String(value['kind']))) return undefined;
  const { namespace, labels, annotations, ...metadata } = recordOf(value['metadata']);
  const mended = {
    ...metadata,
    ...(typeof namespace === 'string' ? { namespace } : {}),
    labels: textsIn(labels),
    annotations: textsIn(annotations),
  };
  const spec = value['spec'] ?? Object.entries(value).find(([field]) => meantBy(field, value) === 'spec')?.[1];
  const manifest = { apiVersion: API_VERSION, kind: value['kind'], spec, status: value['status'] };
  if (hasName(mended)) return { manifest: { ...manifest, metadata: mended } };
  return { manifest: { ...manifest, metadata: { ...mended, name: 'nameless' } }, isNameless: true };
}

function textsIn(values: unknown): object {
  const texts = isRecord(values) ? Object.entries(values).filter(([, each]) => typeof each === 'string') : [];
  return Object.fromEntries(texts);
}

/** The name of an object is part of a path. */
function hasName(metadata: unknown): metadata is { readonly name: string } {
  const { name } = recordOf(metadata);
  return typeof name === 'string' && /^[^/%]+$/.test(name) && name !== '.' && name !== '..';
}

const FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** The field of an object that was probably meant by one that it does not have, unless that one is set too. */
function meantBy(field: string, value: Readonly<Record<string, unknown>>): string | undefined {
  const meant = FIELDS.includes(field) ? undefined : nearest(field, FIELDS);
  return meant !== undefined && value[meant] === undefined ? meant : undefined;
}

/** Mistakes for which the API server would reject the object without looking further. */
function problemsOf(value: unknown): readonly string[] {
  if (!isRecord(value))
    // It may be a file with a password.
    return [`is ${Array.isArray(value) ? 'a list' : 'a text'}: write an object`];
  if (!isWanted(value)) return [];
  const { apiVersion, kind, metadata } = value;
  const problems: string[] = [];
  if (isOurs(value) && apiVersion !== API_VERSION) problems.push(`apiVersion ${shown(apiVersion)}: use ${API_VERSION}`);
  if (isOurs(value) && !KINDS.includes(String(kind))) problems.push(`kind ${shown(kind)}: use ${KINDS.join(', ')}`);
  const { name, namespace } = recordOf(metadata);
  if (!hasName(metadata))
    problems.push(`metadata.name ${shown(name)}: set it to a string${name ? ', without / and %' : ''}`);
  if (!isTextOrAbsent(namespace)) problems.push(`metadata.namespace ${shown(namespace)}: ${IN_QUOTES}`);
  problems.push(...notTexts(value), ...(isOurs(value) ? unknownFields(value) : []));
  const what = KINDS.includes(String(kind)) ? `${[kind, ...(hasName(metadata) ? [name] : [])].join(' ')}: ` : '';
  return problems.map((problem) => `${what}${problem}`);
}

/** Values such as `true` and `1` where the API server takes texts only. */
function notTexts({ metadata, ...value }: Readonly<Record<string, unknown>>): readonly string[] {
  const { labels, annotations } = recordOf(metadata);
  const ofMetadata = Object.entries({ labels, annotations }).flatMap(([field, values]) => {
    if (values === undefined || values === null) return [];
    if (!isRecord(values)) return [`metadata.${field} ${shown(values)}: write an object`];
    return wrongIn(values).map(([name, each]) => `metadata.${field}: ${name} ${shown(each)}: ${IN_QUOTES}`);
  });
  // Their values may be secret.
  const ofData = ['data', 'stringData'].flatMap((field) => {
    const values = isOurs(value) ? undefined : value[field];
    return isRecord(values) ? wrongIn(values).map(([name]) => `${field}: ${name} is not a string: ${IN_QUOTES}`) : [];
  });
  return [...ofMetadata, ...ofData];
}

const IN_QUOTES = 'write a string, in quotes';

function wrongIn(values: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(values).filter(([, each]) => !isTextOrAbsent(each));
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

function unknownFields(value: Readonly<Record<string, unknown>>): readonly string[] {
  const unknown = Object.keys(value).filter((field) => !FIELDS.includes(field));
  return unknown.map((field) => {
    const meant = meantBy(field, value);
    return `there is no field ${field}: ${meant === undefined ? 'correct its name, or remove it' : `did you mean ${meant}?`}`;
  });
}

function shown(value: unknown): string {
  return value === undefined ? 'is missing' : `cannot be ${JSON.stringify(value)}`;
}
