import { describe, expect, test } from 'vitest';
import { withTable } from './readme.ts';
import { schemaOf } from './schema.ts';
import { leaves, readValues } from './values.ts';

const TEXT = `# What this file is.

# -- How many
# -- (integer from 1 to 9) How many pods
replicas: 1
image:
  # -- Repository
  repository: mooring
  # -- (list of string) Tags
  tags:
    - one
# -- (Affinity) Where
affinity:
  nodeAffinity: {}
# -- (map of string) Labels, a | b
labels: {}
# -- (integer or string or null) Budget
budget: null
# -- (one of a, b) Mode
mode: a
# -- (string like ^(a|b)$) Name
name: ""
# -- On
enabled: true
`;
const TYPES = {
  Affinity: { type: 'object', properties: { nodeAffinity: { $ref: '#/definitions/NodeAffinity' } } },
  NodeAffinity: { type: 'object' },
  Unused: { type: 'object' },
};

describe('readValues()', () => {
  test('reads keys with their comments, types and defaults, and treats the contents of a default as part of it', () => {
    expect(leaves(readValues(TEXT)).map(({ path, type, preset }) => [path.join('.'), type, preset])).toEqual([
      ['replicas', 'integer from 1 to 9', 1],
      ['image.repository', undefined, 'mooring'],
      ['image.tags', 'list of string', ['one']],
      ['affinity', 'Affinity', { nodeAffinity: {} }],
      ['labels', 'map of string', {}],
      ['budget', 'integer or string or null', null],
      ['mode', 'one of a, b', 'a'],
      ['name', 'string like ^(a|b)$', ''],
      ['enabled', undefined, true],
    ]);
  });

  test('treats parentheses in a sentence as part of it', () => {
    expect(leaves(readValues('# -- (on) by default\na: true\n'))).toMatchObject([{ type: undefined }]);
  });

  test.each([
    ['a: 1\n', 'a of values.yaml has no comment'],
    ['# -- A\n"a": 1\n', 'Cannot read the line ""a": 1"'],
  ])('refuses %j', (text, message) => {
    expect(() => readValues(text)).toThrow(message);
  });
});

describe('schemaOf()', () => {
  const schema = schemaOf(readValues(TEXT), TYPES);

  test('closes each group, and the root except for what Helm passes', () => {
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: {
        global: { type: 'object' },
        image: { type: 'object', additionalProperties: false },
      },
    });
  });

  test('says each type', () => {
    expect(schema['properties']).toMatchObject({
      replicas: { description: 'How many pods', type: 'integer', minimum: 1, maximum: 9 },
      image: {
        properties: { repository: { type: 'string' }, tags: { else: { type: 'array', items: { type: 'string' } } } },
      },
      affinity: { else: { $ref: '#/definitions/Affinity' } },
      labels: { else: { type: 'object', additionalProperties: { type: 'string' } } },
      budget: { type: ['integer', 'string', 'null'] },
      mode: { enum: ['a', 'b'] },
      name: { else: { type: 'string', pattern: '^(a|b)$' } },
      enabled: { type: 'boolean' },
    });
  });

  test('requires whatever null would remove, except what may be empty', () => {
    expect(schema).toMatchObject({
      required: ['replicas', 'image', 'mode', 'enabled'],
      properties: { image: { required: ['repository'] } },
    });
  });

  test('accepts null for the others, as Helm leaves it in the values with --reuse-values', () => {
    const isNull = { if: { type: 'null' } };
    expect(schema['properties']).toMatchObject({
      image: { properties: { tags: isNull } },
      affinity: isNull,
      labels: isNull,
      name: isNull,
    });
    expect(schema['properties']).not.toMatchObject({ budget: isNull });
  });

  test('has the types of Kubernetes that are used, and those that they use', () => {
    expect(Object.keys(schema['definitions'] as object)).toEqual(['Affinity', 'NodeAffinity']);
  });

  test.each([
    ['# -- A\na: {}\n', 'a of values.yaml has no type'],
    ['# -- (Afinity) A\na: {}\n', 'Type "Afinity" in values.yaml is not known'],
  ])('refuses %j', (text, message) => {
    expect(() => schemaOf(readValues(text), TYPES)).toThrow(message);
  });
});

describe('withTable()', () => {
  test('puts the table in its place, also when run again', () => {
    const document = 'Before\n<!-- values: npm run generate --><!-- /values -->\nAfter\n';
    const once = withTable(document, readValues(TEXT));
    expect(once).toMatch(/^Before\n<!-- values: .* -->\n\n\| Value \| Type \| Default \| What it does \|\n/);
    expect(once).toContain('| `labels` | map of string | `{}` | Labels, a \\| b |\n');
    expect(once).toContain('| `name` | string | `""` | Name |\n');
    expect(withTable(once, readValues(TEXT))).toBe(once);
  });

  test('refuses a document without a place for it', () => {
    expect(() => withTable('Nothing', [])).toThrow('has no place for the values');
  });
});
