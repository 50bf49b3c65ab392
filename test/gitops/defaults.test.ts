import { expect, test } from 'vitest';
import { definitions } from '../../src/kinds/definitions.ts';
import { customResourceDefinition } from '../../src/kube/crd/crd.ts';

/** Paths of schemas with a default, somewhere below the items of a list. */
function defaultsInLists(schema: unknown, path: string, inList: boolean): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = inList && 'default' in schema ? [path] : [];
  return [
    ...own,
    ...Object.entries(schema).flatMap(([name, value]) =>
      defaultsInLists(value, `${path}.${name}`, inList || name === 'items'),
    ),
  ];
}

test.each(definitions.map((definition) => [definition.kind, definition] as const))(
  '%s: no list contains a default, which clients that compare three ways would report as a difference',
  (_, definition) => {
    expect(defaultsInLists(customResourceDefinition(definition).spec, 'spec', false)).toEqual([]);
    const listed = { items: { properties: { port: { default: 1 } } } };
    expect(defaultsInLists(listed, 'schema', false)).toEqual(['schema.items.properties.port']);
  },
);
