import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/is-record.ts';
import { nearest } from '../base/nearest.ts';
import type { KubeError } from '../kube/api.ts';
import { fieldsOf, resourceSchema } from '../kube/crd/crd.ts';
import type { ResourceDefinition } from '../kube/definition.ts';
import type { Manifest } from './manifests.ts';

/* What an API server says is wrong with a manifest, and how to mend the manifest just enough that the server says more. */

/** A field that the API server refuses. */
export interface Refused {
  readonly field: string;
  readonly text: string;
  /** If there is no such field: the one with a similar name, provided it is not set itself. */
  readonly meant?: string | undefined;
  /** More than the field's name and type was checked. */
  readonly isRule?: true;
}

/** `.spec.storageSizeGB: expected numeric (int or float), got string`: from the type checker of server-side apply. */
const TYPED = /(?<=\s)\.([\w.[\]]+): ([^\n]*)/g;

/** `strict decoding error: unknown field "spec.nonsense"`: the answer to a patch with fieldValidation=Strict. */
const UNKNOWN = /unknown field "([\w.[\]]+)"/g;

/** The whole object, which comes before what is wrong in the answer to a patch that cannot be read. */
const WHOLE_OBJECT = /^Invalid value: "(?:\\.|[^"\\])*": /;

/** The fields that the error complains about. */
export function refusedFields(
  error: KubeError,
  definition: ResourceDefinition,
  manifest: Manifest,
): readonly Refused[] {
  if (error.status === 403 || error.status === 404 || error.status === 401) return [];
  // For a patch, error.message holds the whole object before it comes to the point.
  const strict = error.fields.flatMap(({ message }) => [...message.matchAll(UNKNOWN)].map(([, field = '']) => field));
  if (strict.length > 0) return strict.map((field) => unknownField(definition, manifest, field));
  if (error.fields.length > 0)
    return error.fields.map(({ field, message }) => {
      const text = field === 'patch' ? message.replace(WHOLE_OBJECT, '') : `${field}: ${message}`;
      return { field, text, isRule: true };
    });
  return [...error.message.matchAll(TYPED)].map(([, field = '', message = '']) => {
    if (message.includes('not declared in schema')) return unknownField(definition, manifest, field);
    return { field, text: `${field} cannot be ${JSON.stringify(valueAt(manifest, field))}: ${message}` };
  });
}

function unknownField(definition: ResourceDefinition, manifest: Manifest, field: string): Refused {
  const [parent, name] = parentOf(field);
  const meant = nearest(name, namesIn(definition, parent));
  const set = valueAt(manifest, parent);
  const isSet = meant !== undefined && isRecord(set) && meant in set;
  const remedy = meant === undefined ? 'correct its name, or remove it' : `did you mean ${meant}?`;
  const text = `${field} cannot be ${JSON.stringify(valueAt(manifest, field))}: there is no such field: ${remedy}`;
  return { field, text, meant: isSet ? undefined : meant };
}

/** The fields of metadata that people write. */
const METADATA = ['name', 'namespace', 'labels', 'annotations'];

/** The fields that an object at this path, such as `spec.apiTokens[1]`, can have. */
function namesIn(definition: ResourceDefinition, path: string): readonly string[] {
  if (path === 'metadata') return METADATA;
  const within = `${path.replace(/\[\d+\]/g, '[]')}.`;
  return fieldsOf(resourceSchema(definition), '')
    .map((field) => field.path.slice(1))
    .filter((each) => each.startsWith(within) && !each.slice(within.length).includes('.'))
    .map((each) => each.slice(within.length));
}

/** Values for which the rules demand the least of other fields. A refused field without one is removed. */
const STAND_INS: Readonly<Record<string, unknown>> = {
  'spec.spaceRef': { name: 'any' },
  'spec.clusterRef': { name: 'any' },
  'spec.cloneFrom': { clusterID: 'any' },
  'spec.adoptionPolicy': 'MustExist',
  'spec.managementPolicy': 'Observe',
  'spec.allowUnlisted': true,
};

/** The manifest with whatever this field is refused for put right; the same manifest if that is impossible. */
export function mended(manifest: Manifest, { field, meant }: Pick<Refused, 'field' | 'meant'>): Manifest {
  const [path, name] = parentOf(field);
  const standIn = STAND_INS[field];
  const isThere = (parent: unknown) => isRecord(parent) && name in parent;
  if (standIn === undefined ? !isThere(valueAt(manifest, path)) : isDeepStrictEqual(valueAt(manifest, field), standIn))
    return manifest;
  const copy = structuredClone(isRecord(manifest.spec) ? manifest : { ...manifest, spec: {} });
  const parent = valueAt(copy, path) as Record<string, unknown>;
  if (meant !== undefined) parent[meant] = parent[name];
  if (standIn === undefined) delete parent[name];
  else parent[name] = standIn;
  return copy;
}

/** The field that was probably meant by a misspelt one. */
export function meantField({ field, meant = '' }: Refused): string {
  return `${parentOf(field)[0]}.${meant}`;
}

/** Reports whether a field such as `spec.schema[0].inline` is in `spec.schema`. */
export function isWithin(field: string, whole: string): boolean {
  return field.startsWith(`${whole}.`) || field.startsWith(`${whole}[`);
}

/** Splits `spec.backup.frequency` into `spec.backup` and `frequency`. */
function parentOf(field: string): readonly [path: string, name: string] {
  const at = field.lastIndexOf('.');
  return [field.slice(0, Math.max(0, at)), field.slice(at + 1)];
}

function valueAt(manifest: Manifest, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (parent, step) => (parent as Record<string, unknown> | undefined)?.[step],
    manifest,
  );
}

function stepsOf(path: string): readonly string[] {
  return path.split(/[.[\]]+/).filter((step) => step !== '');
}
