import { isRecord, type Value } from './values.ts';

/** The part of JSON Schema that is written here. Draft 7, which every version of Helm reads. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Closed schemas of Kubernetes types by their short names, such as `EnvVar`. */
export type Types = Readonly<Record<string, Schema>>;

/** Keys that are set by Helm or by a chart that contains this one. */
const FROM_OUTSIDE = {
  global: { description: 'For a chart that contains this one; not used here.', type: 'object' },
  enabled: { description: 'For the condition of a chart that contains this one; not used here.', type: 'boolean' },
};

/** What the chart accepts: its values and nothing else. Throws if a type is unknown. */
export function schemaOf(values: readonly Value[], types: Types): Schema {
  const used = new Set<string>();
  const root = group([], values, (type) => {
    if (types[type] === undefined)
      throw new Error(`Type "${type}" in values.yaml is not known: See tools/helm/schema.ts`);
    used.add(type);
    return { $ref: `#/definitions/${type}` };
  });
  const { properties, ...rest } = root;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart mooring',
    ...rest,
    properties: { ...FROM_OUTSIDE, ...(isRecord(properties) ? properties : {}) },
    definitions: Object.fromEntries([...closure(used, types)].toSorted().map((name) => [name, types[name]])),
  };
}

type Named = (type: string) => Schema;

function group(path: readonly string[], values: readonly Value[], named: Named): Schema {
  const children = values.filter((value) => value.path.length === path.length + 1 && startsWith(value.path, path));
  const properties = children.map((value) => {
    const schema = value.about === undefined ? group(value.path, values, named) : leaf(value, named);
    return [value.path.at(-1) ?? '', isRequired(value) ? schema : orNull(schema)] as const;
  });
  const required = children.filter(isRequired).map(({ path: keys }) => keys.at(-1));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Null removes a default. These values need theirs; lists, maps and texts that may be empty do not. */
function isRequired({ about, preset }: Value): boolean {
  return about === undefined || (preset !== '' && ['string', 'number', 'boolean'].includes(typeof preset));
}

/** Helm takes null out of the values before it checks them, but not with `--reuse-values`. */
function orNull({ description, ...schema }: Schema): Schema {
  // Not in `type`: a refusal names only what makes sense.
  return [schema['type']].flat().includes('null')
    ? { description, ...schema }
    : { description, if: { type: 'null' }, else: schema };
}

function leaf({ path, about, type, preset }: Value, named: Named): Schema {
  const schema = type === undefined ? schemaOfPreset(path, preset) : schemaOfType(type, named);
  return { description: about, ...schema };
}

function schemaOfPreset(path: readonly string[], preset: unknown): Schema {
  if (typeof preset === 'string') return { type: 'string' };
  if (typeof preset === 'boolean') return { type: 'boolean' };
  throw new Error(`${path.join('.')} of values.yaml has no type: Write one in parentheses, after # --`);
}

/** `list of string`, `one of a, b`, `integer from 1 to 9`, `string like ^a`, `integer or null`, or a type of Kubernetes. */
function schemaOfType(type: string, named: Named): Schema {
  const [, container, inner] = /^(list|map) of (.+)$/.exec(type) ?? [];
  if (container === 'list') return { type: 'array', items: schemaOfType(inner ?? '', named) };
  if (container === 'map') return { type: 'object', additionalProperties: schemaOfType(inner ?? '', named) };
  if (type.startsWith('one of ')) return { type: 'string', enum: type.slice('one of '.length).split(', ') };
  if (type.startsWith('string like ')) return { type: 'string', pattern: type.slice('string like '.length) };
  if (/^\w+( or \w+)+$/.test(type)) return { type: type.split(' or ') };
  const [, minimum, maximum] = /^integer from (\d+)(?: to (\d+))?$/.exec(type) ?? [];
  if (minimum !== undefined) {
    return {
      type: 'integer',
      minimum: Number(minimum),
      ...(maximum === undefined ? {} : { maximum: Number(maximum) }),
    };
  }
  return /^[a-z]+$/.test(type) ? { type } : named(type);
}

function startsWith(path: readonly string[], begin: readonly string[]): boolean {
  return begin.every((key, index) => path[index] === key);
}

/** The names with those that they refer to. */
function closure(names: Iterable<string>, types: Types): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const [, other = ''] of JSON.stringify(types[name]).matchAll(/"#\/definitions\/(\w+)"/g)) visit(other);
  };
  for (const name of names) visit(name);
  return found;
}
