import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { ResourceDefinition } from '../definition.ts';
import { customResourceDefinition, fieldsOf, resourceSchema } from './crd.ts';

function aDefinition(overrides: Partial<ResourceDefinition> = {}): ResourceDefinition {
  return {
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    shortNames: ['th'],
    categories: ['mooring'],
    description: 'A thing.',
    spec: z.object({ name: z.string().describe('Its name.') }).describe('Desired.'),
    status: z.object({ observedGeneration: z.int().default(-1).describe('Seen.') }).describe('Found.'),
    printerColumns: [],
    ...overrides,
  };
}

describe('customResourceDefinition()', () => {
  test('is named after plural and group, namespaced, with a status subresource', () => {
    expect(customResourceDefinition(aDefinition())).toMatchObject({
      metadata: { name: 'things.mooring.dev' },
      spec: {
        group: 'mooring.dev',
        scope: 'Namespaced',
        names: { kind: 'Thing', listKind: 'ThingList', plural: 'things', singular: 'thing' },
        versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });
});

describe('resourceSchema()', () => {
  test('gives objects a status from birth, with the defaults of its fields', () => {
    expect(resourceSchema(aDefinition()).properties?.['status']).toMatchObject({
      default: {},
      properties: { observedGeneration: { default: -1 } },
    });
  });

  test('carries rules on the whole object', () => {
    const rules = [{ rule: 'self.metadata.name != self.spec.name', message: 'No' }];
    expect(resourceSchema(aDefinition({ rules }))['x-kubernetes-validations']).toEqual(rules);
  });

  test('refuses fields without a description, at any depth', () => {
    const spec = z.object({ list: z.array(z.object({ bare: z.string() })).describe('List.') }).describe('Desired.');
    expect(() => resourceSchema(aDefinition({ spec }))).toThrow('spec.list[].bare has no description: Add .describe()');
  });
});

test('fieldsOf() lists a schema and its fields in written order, and which of them are required', () => {
  const spec = z
    .object({
      b: z.array(z.object({ x: z.string().describe('x') })).describe('b'),
      a: z
        .record(z.string(), z.object({ y: z.string().optional().describe('y') }))
        .optional()
        .describe('a'),
    })
    .describe('Desired.');
  const { properties } = resourceSchema(aDefinition({ spec }));
  const fields = fieldsOf(properties?.['spec'] ?? {}, 'spec');
  expect(fields.map(({ path, required }) => [path, required])).toEqual([
    ['spec', true],
    ['spec.b', true],
    ['spec.b[].x', true],
    ['spec.a', false],
    ['spec.a{}.y', false],
  ]);
});
