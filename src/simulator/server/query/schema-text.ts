import type { Capabilities, Schema, TypeDefinition } from './schema.ts';

/** The schema as a define statement that can be sent back unchanged; empty if nothing is defined. */
export function renderSchema(schema: Schema, what: 'all' | 'types'): string {
  const types = [...schema.types.values()].map(renderType);
  const functions = what === 'all' ? [...schema.functions.values()] : [];
  return types.length + functions.length === 0 ? '' : `${['define', ...types, ...functions].join('\n\n')}\n`;
}

function renderType(type: TypeDefinition): string {
  const head = [type.kind, type.label, ...type.annotations].join(' ');
  const clauses = [
    ...(type.parent === undefined ? [] : [`sub ${type.parent}`]),
    ...(type.valueType === undefined ? [] : [`value ${type.valueType}`]),
    ...renderCapabilities('relates', type.relates),
    ...renderCapabilities('owns', type.owns),
    ...renderCapabilities('plays', type.plays),
  ];
  return `${[head, ...clauses].join(',\n  ')};`;
}

function renderCapabilities(word: string, capabilities: Capabilities): string[] {
  return [...capabilities].map(([label, annotations]) => [word, label, ...annotations].join(' '));
}
