import { API_VERSION } from '../../base/group.ts';
import type { PrinterColumn, ResourceDefinition, ValidationRule } from '../definition.ts';
import { type Field, fieldsOf, resourceSchema } from './crd.ts';

/** Returns the chapter of docs/reference.md about one kind: names, fields, rules and printer columns, in Markdown. */
export function referenceOf(definition: ResourceDefinition): string {
  const { properties = {}, ...root } = resourceSchema(definition);
  const { spec = {}, status = {} } = properties;
  const specFields = fieldsOf(spec, 'spec');
  const rules = [{ path: '', schema: root, required: true }, ...specFields].flatMap(rulesOf);
  return [
    `## ${definition.kind}`,
    definition.description,
    `\`apiVersion: ${API_VERSION}\`, \`kind: ${definition.kind}\`; in kubectl also \`${definition.plural}\`, ` +
      `${definition.shortNames.map((name) => `\`${name}\``).join(', ')}; for all kinds ` +
      `${definition.categories.map((name) => `\`${name}\``).join(', ')}.`,
    '### Spec',
    table(['Field', 'Type', 'Default', 'What it does'], specFields.slice(1).map(fieldRow)),
    '### Rules',
    'The API server checks these when an object is applied, in addition to the types and limits above.',
    table(['Field', 'Rule'], rules),
    '### Status',
    table(
      ['Field', 'Type', 'What it says'],
      fieldsOf(status, 'status')
        .slice(1)
        .map((field) => [code(field.path), typeOf(field), text(field.schema.description)]),
    ),
    '### Columns of kubectl get',
    table(['Column', 'With', 'What it shows'], definition.printerColumns.map(columnRow)),
  ].join('\n\n');
}

function fieldRow(field: Field): readonly string[] {
  const { schema } = field;
  const otherwise = schema.default === undefined ? '' : code(JSON.stringify(schema.default));
  return [code(field.path), typeOf(field), field.required ? 'required' : otherwise, text(schema.description)];
}

function typeOf({ schema }: Field): string {
  const list = schema.type === 'array';
  const kind = list
    ? `list of ${schema.items?.type ?? 'any'}s`
    : schema.additionalProperties
      ? 'map of strings'
      : schema.type;
  const limits = [
    schema.enum?.map((value) => code(String(value))).join(', '),
    rangeOf(schema.minimum, schema.maximum, ''),
    rangeOf(schema.minItems, schema.maxItems, ' items'),
  ];
  return [kind, ...limits].filter((part) => part !== undefined).join('; ');
}

function rangeOf(minimum: number | undefined, maximum: number | undefined, unit: string): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}${unit}`;
  if (maximum !== undefined) return `up to ${maximum}${unit}`;
  return minimum === undefined ? undefined : `at least ${minimum}${unit}`;
}

function rulesOf(field: Field): readonly (readonly string[])[] {
  const rules: readonly ValidationRule[] = field.schema['x-kubernetes-validations'] ?? [];
  const judged = ({ fieldPath = '' }: ValidationRule) => `${field.path}${fieldPath}`.replace(/^\./, '') || 'metadata';
  return rules.map((rule) => [code(judged(rule)), text(rule.message)]);
}

function columnRow(column: PrinterColumn): readonly string[] {
  return [column.name, column.priority === 1 ? '`-o wide`' : '', column.description];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(value: string): string {
  return `\`${value}\``;
}

function text(value: string | undefined): string {
  return (value ?? '').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
