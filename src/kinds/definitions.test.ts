import { describe, expect, test } from 'vitest';
import { customResourceDefinition, fieldsOf, resourceSchema } from '../kube/crd/crd.ts';
import { definitions } from './definitions.ts';

test('no two kinds share a name', () => {
  const names = definitions.flatMap((each) => [each.kind.toLowerCase(), each.plural, ...each.shortNames]);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(definitions)('$kind', (definition) => {
  const { spec = {}, status = {} } = resourceSchema(definition).properties ?? {};

  test('has a definition that fits into the annotation of kubectl apply (256 KiB)', () => {
    expect(JSON.stringify(customResourceDefinition(definition)).length).toBeLessThan(256 * 1024);
  });

  test('has defaults only on scalar fields of the top level: deeper ones show as drift in GitOps tools', () => {
    const withDefault = fieldsOf(spec, 'spec').filter(({ schema }) => schema.default !== undefined);
    for (const { path, schema } of withDefault) {
      expect(path).toMatch(/^spec\.[^.[{]+$/);
      expect(schema.default).not.toBeTypeOf('object');
    }
  });

  test('leaves words of the cloud open in its status, so that a new word does not make it unreadable', () => {
    const closed = fieldsOf(status, 'status').filter(({ schema }) => schema.enum !== undefined);
    expect(closed.map(({ path }) => path)).toEqual(['status.conditions[].status']);
  });

  test('can read a status without any field: parseStatus() falls back on it', () => {
    expect(definition.status.parse({})).toEqual({ observedGeneration: -1 });
  });

  test('shows Ready and its reason first, and its age last', () => {
    const columns = definition.printerColumns.map(({ name }) => name);
    expect([columns[0], columns[1], columns.at(-1)]).toEqual(['Ready', 'Reason', 'Age']);
  });
});
