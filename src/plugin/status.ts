import { isRecord } from '../base/is-record.ts';
import { isPaused, mistakesIn, PAUSED_REASON } from '../kube/annotations.ts';
import { age, type Style, table } from './command-line/text.ts';
import type { Inventory } from './inventory.ts';
import { type Item, NOT_SEEN, nameOf, readinessOf } from './item.ts';
import type { NodeName } from './node-name.ts';
import { reasonHelp } from './reasons.ts';
import { ancestorsOf, blockerOf, NOT_THERE, type Node, treeOf } from './tree.ts';

/**
 * The tree of all objects, with what blocks each; if there are none, what is not shown. `nowMs`: for ages. `width`: of the window that
 * rows must fit in; undefined: there is none, as in a pipe.
 */
export function statusText(inventory: Inventory, nowMs: number, style: Style, width?: number): string {
  const lines = treeOf(inventory.items).flatMap((node) => linesOf(node, '', ''));
  const refused = (inventory.refused ?? []).map((message) => `Not shown, as you lack a right: ${message}`);
  const operator = inventory.operator === undefined ? [] : [style.bad(inventory.operator)];
  if (lines.length === 0) return `${[...refused, ...operator].join('\n')}\n`;
  const rows = lines.map(({ label, node }) => [label, ...cellsOf(node, inventory, nowMs)]);
  const styled = (cell: string, row: number, column: number) => {
    if (row === 0) return style.dim(cell);
    return column === 1 ? paint(cell, style) : cell;
  };
  const text = table([['OBJECT', 'READY', 'REASON', 'AGE', 'WHAT BLOCKS IT'], ...rows], styled, width);
  const unmanaged = inventory.items.flatMap(unmanagedOf);
  return `${[text, ...unmanaged, ...refused, ...operator].join('\n')}\n`;
}

/** `scope`: the namespace; undefined: all. `isMissing`: there is no such namespace. `operator`: as in the inventory. */
export function noneText(scope: string | undefined, isMissing: boolean, operator: string | undefined): string {
  const none = `No DatabaseSpaces, DatabaseClusters, DatabaseUsers or Databases found${scope === undefined ? '' : ` in namespace ${scope}`}.`;
  const why = isMissing ? ' There is no such namespace.' : '';
  return `${none}${why}\n${operator === undefined ? '' : `${operator}\n`}`;
}

/** The object with its ancestors and everything below it. */
export function narrowed(inventory: Inventory, only: NodeName): Inventory {
  const item = inventory.items.find((item) => nameOf(item) === only);
  if (item === undefined) return { ...inventory, items: [] };
  const above = ancestorsOf(inventory.items, item).filter((each) => typeof each !== 'string');
  const below = inventory.items.filter((each) =>
    ancestorsOf(inventory.items, each).some((ancestor) => ancestor === item),
  );
  return { ...inventory, items: [...above, item, ...below] };
}

interface Line {
  readonly label: string;
  readonly node: Node;
}

function linesOf(node: Node, first: string, rest: string): readonly Line[] {
  const below = node.children.flatMap((child, index) => {
    const last = index === node.children.length - 1;
    return linesOf(child, `${rest}${last ? '└─ ' : '├─ '}`, `${rest}${last ? '   ' : '│  '}`);
  });
  return [{ label: `${first}${node.name}`, node }, ...below];
}

function cellsOf({ item, name }: Node, inventory: Inventory, nowMs: number): readonly string[] {
  if (item === undefined) {
    const hidden = inventory.hidden.has(name);
    return hidden
      ? ['?', '', '', 'you may not see it, or it does not exist']
      : ['-', NOT_THERE, '', 'it does not exist: create it, or correct the reference'];
  }
  const { status, reason } = readinessOf(item);
  return [status, reason, age(item.metadata.creationTimestamp, nowMs), inTheWay(item, inventory)];
}

function inTheWay(item: Item, inventory: Inventory): string {
  const blocker = blockerOf(inventory, item);
  const paused = isPaused(item.metadata) ? 'paused: Mooring changes nothing about it' : '';
  const isGoing = item.metadata.deletionTimestamp !== undefined && readinessOf(item).reason !== NOT_SEEN;
  if (blocker === undefined)
    return [paused, firstSentence(warningOf(item) ?? ''), mistakesIn(item.kind, item.metadata) ?? '']
      .filter((text) => text !== '')
      .join('; ');
  if (blocker.reason === PAUSED_REASON && blocker.name === nameOf(item))
    return WOULD.test(blocker.message) ? blocker.message.replace(WOULD, 'paused: Mooring would $1') : paused;
  // If the object does not exist, the message has its name.
  const away =
    blocker.name === nameOf(item) || blocker.reason === NOT_THERE ? '' : `${blocker.name}: ${blocker.reason}: `;
  const text = `${away}${firstSentence(blocker.message)}`;
  const isSaid = blocker.name === nameOf(item) && GOING.test(text);
  return `${isGoing && !isSaid ? 'being deleted; ' : ''}${paused === '' ? '' : 'paused; '}${text}`;
}

/** Something that a person should attend to although the object is still Ready; undefined: nothing. */
export function warningOf(item: Item): string | undefined {
  const { status, reason, message } = readinessOf(item);
  return status === 'True' && reasonHelp(item.kind, reason)?.chapter === 'A person must act' ? message : undefined;
}

/** Matches a message that itself says that its object is being deleted. */
const GOING = /^This \w+(, which)? is being deleted/;

/** Matches what the operator says it would do. */
const WOULD = /^.* changes nothing, and would (.*)\. Remove the annotation to go on$/;

/** A status line is one line; `explain` shows the rest. */
function firstSentence(message: string): string {
  // Text after a colon belongs to the sentence: the reason, a short remedy, or a name. Text in brackets counts as one word.
  const words = message.replace(/\([^)]*\)/g, (one) => '_'.repeat(one.length));
  const end = words.search(/[.;] [A-Za-z]/);
  return end < 20 ? message : message.slice(0, end);
}

function paint(cell: string, style: Style): string {
  if (cell.startsWith('True')) return style.good(cell);
  return cell.startsWith('False') || cell.startsWith('-') ? style.bad(cell) : style.going(cell);
}

function unmanagedOf(item: Item): readonly string[] {
  const found = item.status['unmanagedClusters'];
  if (!Array.isArray(found) || found.length === 0) return [];
  const ids = found.map((each) => (isRecord(each) ? String(each['clusterID']) : '')).join(', ');
  return [`${nameOf(item)}: the cloud has ${found.length} more that no object stands for: ${ids}`];
}
