import { load } from 'js-yaml';

/** One key of the chart's values.yaml. */
export interface Value {
  /** Its keys from the root: `['image', 'tag']`. */
  readonly path: readonly string[];
  /** The comment above it, without the type. Undefined for a group, whose keys have their own comments. */
  readonly about: string | undefined;
  /** The type in parentheses in the comment; undefined: the default shows it. */
  readonly type: string | undefined;
  readonly preset: unknown;
}

const KEY = /^(?<indent> *)(?<key>[A-Za-z]\w*):/;
const COMMENT = /^ *# -- (?:\((?<type>.+?)\) (?=[A-Z]))?(?<about>.+)$/;

/**
 * The keys of a values.yaml, in its order: those with a comment `# -- (type) Text`, as in helm-docs, and the groups
 * around them. Whatever is inside a key with a type is its default, not more keys. Throws if a key has no comment.
 */
export function readValues(text: string): readonly Value[] {
  const values: Value[] = [];
  const around: { readonly key: string; readonly depth: number }[] = [];
  const defaults = load(text);
  let comment: RegExpExecArray | null = null;
  let inside = Number.POSITIVE_INFINITY;
  for (const line of text.split('\n')) {
    const depth = line.search(/\S/);
    if (depth < 0 || depth > inside) continue;
    if (line.trimStart().startsWith('#')) {
      comment = COMMENT.exec(line);
      continue;
    }
    const key = KEY.exec(line)?.groups?.['key'];
    if (key === undefined) throw new Error(`Cannot read the line "${line}" of values.yaml: Write it as key: value`);
    while ((around.at(-1)?.depth ?? -1) >= depth) around.pop();
    around.push({ key, depth });
    const path = around.map((each) => each.key);
    const preset = at(defaults, path);
    const { about, type } = comment?.groups ?? {};
    comment = null;
    inside = about === undefined ? Number.POSITIVE_INFINITY : depth;
    if (about === undefined && !isGroup(preset)) {
      throw new Error(`${path.join('.')} of values.yaml has no comment: Write # -- and what it is for over it`);
    }
    values.push({ path, about, type, preset });
  }
  return values;
}

/** The keys that have a value, not the groups around them. */
export function leaves(values: readonly Value[]): readonly Value[] {
  return values.filter(({ about }) => about !== undefined);
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

function isGroup(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length > 0;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
