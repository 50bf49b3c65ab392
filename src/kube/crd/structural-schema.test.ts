import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { structuralSchema } from './structural-schema.ts';

const PRESERVE = { 'x-kubernetes-preserve-unknown-fields': true };

interface Node {
  readonly next?: Node | undefined;
}
const recursive: z.ZodType<Node> = z.object({
  get next() {
    return recursive.optional();
  },
});

describe('structuralSchema() writes what the API server accepts', () => {
  test.each<[string, z.ZodType, unknown]>([
    ['object', z.object({ a: z.string() }), { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }],
    [
      'optional field',
      z.object({ a: z.string().optional() }),
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    ['strictObject', z.strictObject({}), { type: 'object', properties: {} }],
    ['looseObject', z.looseObject({}), { type: 'object', properties: {}, ...PRESERVE }],
    ['any with its marker', z.any().meta(PRESERVE), PRESERVE],
    ['string bounds', z.string().min(1).max(9), { type: 'string', minLength: 1, maxLength: 9 }],
    ['exact length', z.string().length(3), { type: 'string', minLength: 3, maxLength: 3 }],
    ['enum', z.enum(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    ['literal', z.literal('a'), { type: 'string', enum: ['a'] }],
    ['literal numbers', z.literal([7, 30]), { type: 'number', enum: [7, 30] }],
    ['boolean with a default', z.boolean().default(false), { type: 'boolean', default: false }],
    ['nullable', z.string().nullable(), { type: 'string', nullable: true }],
    [
      'prefault, which cascades',
      z.object({ a: z.string().default('b') }).prefault({}),
      { type: 'object', default: {}, properties: { a: { type: 'string', default: 'b' } } },
    ],
    ['int', z.int(), { type: 'integer', format: 'int64' }],
    [
      'int with bounds',
      z.number().int().min(10).max(1000),
      { type: 'integer', format: 'int64', minimum: 10, maximum: 1000 },
    ],
    ['int32', z.int32().min(0), { type: 'integer', format: 'int32', minimum: 0 }],
    ['positive number', z.number().positive(), { type: 'number', minimum: 0, exclusiveMinimum: true }],
    ['multiples', z.number().multipleOf(5), { type: 'number', multipleOf: 5 }],
    [
      'array',
      z.array(z.string()).min(1).max(3),
      { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string' } },
    ],
    [
      'list type and keys',
      z
        .array(z.object({ k: z.string() }))
        .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      },
    ],
    [
      'record',
      z.record(z.string(), z.int()),
      { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
    ],
    [
      'CEL rules',
      z.string().meta({ 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] }),
      { type: 'string', 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] },
    ],
    ['description through wrappers', z.string().describe('d').optional(), { type: 'string', description: 'd' }],
    ['one regex', z.string().regex(/^a$/), { type: 'string', pattern: '^a$' }],
    [
      'several regexes',
      z.string().regex(/a/).regex(/b/),
      { type: 'string', allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
    ],
    ['startsWith', z.string().startsWith('a'), { type: 'string', pattern: '^a.*' }],
    [
      'startsWith with endsWith',
      z.string().startsWith('a').endsWith('b'),
      { type: 'string', allOf: [{ pattern: '^a.*' }, { pattern: '.*b$' }] },
    ],
    ['date-time', z.iso.datetime(), { type: 'string', format: 'date-time' }],
    ['base64', z.base64(), { type: 'string', format: 'byte' }],
    ['url', z.url(), { type: 'string', format: 'uri' }],
    ['email', z.email(), expect.objectContaining({ type: 'string', format: 'email' })],
    ['uuid', z.uuid(), expect.objectContaining({ type: 'string', format: 'uuid' })],
    [
      'int or string',
      z.union([z.int(), z.string()]),
      { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
    ],
    [
      'refine beside a rule in CEL',
      z
        .string()
        .meta({ 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] })
        .refine(() => true),
      { type: 'string', 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] },
    ],
    ['brand', z.string().brand('x'), { type: 'string' }],
  ])('%s', (_, schema, expected) => {
    expect(structuralSchema(schema, 'spec')).toEqual(expected);
  });
});

describe('structuralSchema() refuses what would be lost or rejected, with path and remedy', () => {
  test.each<[string, z.ZodType, RegExp]>([
    ['refine', z.string().refine(() => true), /^spec\.f: The check "custom" .* would be lost: Write a CEL rule$/],
    [
      'refine beside no rule of its own',
      z.object({ a: z.string().refine(() => true) }).meta({ 'x-kubernetes-validations': [] }),
      /^spec\.f\.a: The check "custom"/,
    ],
    ['superRefine', z.string().superRefine(() => {}), /The check "custom"/],
    ['refine on an object', z.object({}).refine(() => true), /^spec\.f: The check "custom"/],
    ['trim', z.string().trim(), /The check "overwrite"/],
    ['regex flags', z.string().regex(/a/i), /The flags of \/a\/i would be lost: Write the pattern without flags/],
    [
      'constrained record keys',
      z.record(z.string().min(1), z.string()),
      /The rule on the keys of a record would be lost/,
    ],
    ['patterned record keys', z.record(z.string().regex(/a/), z.string()), /The rule on the keys of a record/],
    ['enum record keys', z.record(z.enum(['a']), z.string()), /The rule on the keys of a record/],
    ['lookahead', z.string().regex(/^(?!a)/), /has \(\?!, which RE2 does not know/],
    ['lookbehind', z.string().regex(/(?<=a)b/), /has \(\?<=, which RE2/],
    ['backreference', z.string().regex(/(a)\1/), /has \\1, which RE2/],
    ['hostname', z.hostname(), /which RE2 does not know/],
    ['iso.duration', z.iso.duration(), /which RE2 does not know/],
    ['union', z.union([z.string(), z.boolean()]), /A union has no type of its own: Use an object with an enum field/],
    [
      'discriminatedUnion',
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
      /A union has no type of its own/,
    ],
    ['tuple', z.tuple([z.string()]), /^spec\.f: tuple is not known to the API server/],
    ['intersection', z.intersection(z.object({}), z.object({})), /intersection is not known/],
    ['any without a marker', z.any(), /There is no type: Add meta\(\{'x-kubernetes-preserve-unknown-fields': true\}\)/],
    ['unknown without a marker', z.unknown(), /There is no type/],
    ['catchall beside fields', z.object({ a: z.string() }).catchall(z.string()), /exclude each other/],
    ['meta id', z.string().meta({ id: 'refused' }), /A reference cannot be followed: Remove meta\(\{id\}\)/],
    ['recursion', recursive, /A reference cannot be followed/],
    ['readonly', z.string().readonly(), /readonly is not known to the API server/],
    ['deprecated', z.string().meta({ deprecated: true }), /The keyword deprecated is not known to the API server/],
    ['examples', z.string().meta({ examples: ['a'] }), /The keyword examples/],
    ['int64', z.int64(), /bigint is not known/],
    ['date', z.date(), /date is not known/],
    ['transform', z.string().transform(Number), /pipe is not known/],
    ['preprocess', z.preprocess(String, z.string()), /pipe is not known/],
    ['catch', z.string().catch('a'), /catch is not known/],
    ['null', z.null(), /null is not known/],
    ['a format that the API server ignores', z.string().meta({ format: 'semver' }), /The format semver is not checked/],
  ])('%s', (_, schema, message) => {
    expect(() => structuralSchema(z.object({ f: schema }), 'spec')).toThrow(message);
  });

  test('structuralSchema() names every refusal at once, by the path a user would write', () => {
    const schema = z.object({
      list: z.array(z.object({ name: z.string().regex(/a/g) })),
      map: z.record(z.string(), z.any()),
    });
    expect(() => structuralSchema(schema, 'spec')).toThrow(
      expect.objectContaining({
        refusals: [
          expect.stringMatching(/^spec\.list\[\]\.name: The flags of/),
          expect.stringMatching(/^spec\.map\{\}: There is no type/),
        ],
      }),
    );
  });
});
