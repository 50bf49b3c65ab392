import type { Database } from '../state.ts';
import type { Concept, Row, TypedValue } from './concepts.ts';
import type { Attribute, RolePlayer } from './data.ts';
import { checkShape } from './data-check.ts';
import { evaluate } from './expressions.ts';
import { requireType } from './graph.ts';
import { impossible, SyntaxRefusal } from './refusal.ts';
import type { Schema } from './schema.ts';
import { isKindOf, valueTypeOf } from './schema-lookup.ts';
import type { Deletion, Pattern } from './syntax.ts';
import { changeData, type Workspace } from './workspace.ts';

/** Makes the instances and gives the attributes that the patterns describe. Returns the row with what was made. */
export function insert(database: Database, workspace: Workspace, patterns: readonly Pattern[], row: Row): Row {
  const made = new Map(row);
  const fresh = new Set<string>();
  for (const pattern of patterns) {
    if (pattern.pattern !== 'isa') continue;
    made.set(pattern.variable, newInstance(database, workspace.schema, pattern, row));
    fresh.add(pattern.variable);
  }
  for (const variable of fresh) {
    const { iid, type } = instanceOf(made, variable);
    changeData(workspace, {
      change: 'create',
      thing: { iid, type, has: [], players: playersOf(patterns, variable, made) },
    });
  }
  for (const pattern of patterns) {
    if (pattern.pattern === 'has') give(workspace, pattern, made);
    else if (pattern.pattern === 'links' && !fresh.has(pattern.relation)) {
      throw new SyntaxRefusal('Players can only be given to a relation that is inserted with them');
    } else if (pattern.pattern !== 'isa' && pattern.pattern !== 'links') {
      throw new SyntaxRefusal(`insert takes isa, has and links, not ${pattern.pattern}`);
    }
  }
  for (const variable of fresh) check(workspace, instanceOf(made, variable).iid);
  return made;
}

/** `update $x has name "new"`: replaces the values of that type. */
export function update(workspace: Workspace, patterns: readonly Pattern[], row: Row): Row {
  for (const pattern of patterns) {
    if (pattern.pattern !== 'has' || pattern.type === undefined) {
      throw new SyntaxRefusal('update takes has with a type only');
    }
    const { iid } = instanceOf(row, pattern.owner);
    for (const attribute of workspace.data.get(iid)?.has ?? []) {
      if (isKindOf(workspace.schema, attribute.type, pattern.type))
        changeData(workspace, { change: 'take', iid, attribute });
    }
    give(workspace, pattern, row);
  }
  return row;
}

/** Returns the row without what was deleted. Deleting what another row has already deleted is no error. */
export function remove(workspace: Workspace, deletions: readonly Deletion[], row: Row): Row {
  const left = new Map(row);
  for (const deletion of deletions) {
    if (deletion.what === 'instance') {
      const { iid } = instanceOf(row, deletion.variable);
      if (workspace.data.has(iid)) changeData(workspace, { change: 'delete', iid });
      left.delete(deletion.variable);
      continue;
    }
    const { iid } = instanceOf(row, deletion.owner);
    const concept = row.get(deletion.attribute);
    if (concept?.concept !== 'attribute') throw impossible(`$${deletion.attribute} is not an attribute`);
    if (workspace.data.has(iid)) changeData(workspace, { change: 'take', iid, attribute: concept.attribute });
  }
  return left;
}

function newInstance(
  database: Database,
  schema: Schema,
  { variable, type }: Extract<Pattern, { pattern: 'isa' }>,
  row: Row,
): Concept {
  if (row.has(variable)) throw impossible(`$${variable} is already bound: it cannot be inserted`);
  if (!('label' in type)) throw new SyntaxRefusal('insert takes isa with the name of a type only');
  if (requireType(schema, type.label).kind === 'attribute') {
    throw new SyntaxRefusal('Attributes are inserted with has, on their owner');
  }
  database.lastIid += 1;
  return { concept: 'instance', iid: `0x${database.lastIid.toString(16).padStart(16, '0')}`, type: type.label };
}

function playersOf(patterns: readonly Pattern[], relation: string, row: Row): readonly RolePlayer[] {
  return patterns.flatMap((pattern) => {
    if (pattern.pattern !== 'links' || pattern.relation !== relation) return [];
    return pattern.players.map(({ role, player }) => {
      if (role === undefined) throw new SyntaxRefusal('insert needs the role of every player');
      return { role, iid: instanceOf(row, player).iid };
    });
  });
}

function give(workspace: Workspace, pattern: Extract<Pattern, { pattern: 'has' }>, row: Row): void {
  const { iid } = instanceOf(row, pattern.owner);
  changeData(workspace, { change: 'give', iid, attribute: attributeFor(workspace.schema, pattern, row) });
  check(workspace, iid);
}

function attributeFor(schema: Schema, { type, value }: Extract<Pattern, { pattern: 'has' }>, row: Row): Attribute {
  if ('comparator' in value && value.comparator !== '==') throw new SyntaxRefusal('has takes a value here');
  const given =
    'variable' in value ? evaluate({ expression: 'variable', ...value }, row) : evaluate(value.operand, row);
  const concept = 'variable' in value ? row.get(value.variable) : undefined;
  const label = type ?? (concept?.concept === 'attribute' ? concept.attribute.type : undefined);
  if (label === undefined) throw new SyntaxRefusal('has needs the type of the attribute');
  requireType(schema, label);
  return { type: label, ...converted(schema, label, given) };
}

/** Accepts an integer for a double; nothing else is converted. */
function converted(schema: Schema, label: string, { valueType, value }: TypedValue): TypedValue {
  const wanted = valueTypeOf(schema, label);
  if (wanted === valueType || (wanted === 'double' && valueType === 'integer')) return { valueType: wanted, value };
  throw impossible(`${label} takes values of type ${wanted ?? 'none'}, not ${valueType}`);
}

function instanceOf(row: Row, variable: string): Extract<Concept, { concept: 'instance' }> {
  const concept = row.get(variable);
  if (concept?.concept !== 'instance') throw impossible(`$${variable} is not an entity or relation`);
  return concept;
}

function check(workspace: Workspace, iid: string): void {
  const thing = workspace.data.get(iid);
  if (thing !== undefined) checkShape(workspace.schema, workspace.data, thing);
}
