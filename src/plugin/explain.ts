import type { Condition } from '../kube/condition.ts';
import { type Inventory, type Item, isOutOfDate, isPaused, isRecord, nameOf, readyOf } from './inventory.ts';
import { commandFor } from './kinds.ts';
import { reasonHelp } from './reasons.ts';
import { age, type Style, table } from './text.ts';
import { ancestorsOf, blockerOf } from './tree.ts';

/** Everything about one object: what is declared, what is there, what is missing and why, and what a person can do. */
export function explainText(inventory: Inventory, item: Item, nowMs: number, style: Style): string {
  const ready = readyOf(item);
  const headline = ready === undefined || isOutOfDate(item) ? 'not looked at yet' : `${ready.status} ${ready.reason}`;
  const paint = ready?.status === 'True' ? style.good : ready?.status === 'False' ? style.bad : style.going;
  const parts = [
    `${style.strong(nameOf(item))}: Ready is ${paint(headline)}${lasting(ready, nowMs)}`,
    section(
      'Why',
      [ready?.message ?? 'Mooring has not looked at it: is the operator running, and does it watch this namespace?'],
      style,
    ),
    section('Paused', pausedLines(item), style),
    section('What to do', whatToDo(inventory, item), style),
    section('Comes from', causes(inventory, item), style),
    section('Next try', nextTry(item, ready), style),
    section('Last error', lastError(item, nowMs), style),
    section('Missing', missing(item), style),
    section('There', thereIs(item), style),
    section('Declared', fieldsOf(item.spec), style),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** The same for programs. */
export function explanationOf(inventory: Inventory, item: Item): object {
  const { kind, metadata, spec, status } = item;
  const ready = readyOf(item);
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    ready: ready === undefined || isOutOfDate(item) ? 'Unknown' : ready.status,
    reason: ready?.reason ?? '',
    message: ready?.message ?? '',
    paused: isPaused(item),
    blockedBy: blockerOf(inventory, item) ?? null,
    whatToDo: whatToDo(inventory, item),
    comesFrom: causes(inventory, item),
    nextTry: nextTry(item, ready),
    lastError: (isRecord(status) ? status['lastError'] : undefined) ?? null,
    missing: missing(item),
    status,
    spec,
  };
}

function section(title: string, lines: readonly string[], style: Style): string {
  return lines.length === 0 ? '' : [style.strong(title), ...lines.map((line) => `  ${line}`)].join('\n');
}

function pausedLines(item: Item): readonly string[] {
  return isPaused(item) ? [`Mooring changes nothing about it until: ${commandFor('unpause', item)}`] : [];
}

function lasting(ready: Condition | undefined, nowMs: number): string {
  return ready === undefined ? '' : `, for ${age(ready.lastTransitionTime, nowMs)}`;
}

function whatToDo(inventory: Inventory, item: Item): readonly string[] {
  const blocker = blockerOf(inventory, item);
  if (blocker === undefined) return [];
  const kind = blocker.name.split(' ')[0] ?? '';
  const help = reasonHelp(kind, blocker.reason);
  if (help === undefined) return [];
  return [help.remedy ?? `Nothing but to wait: ${help.meaning.charAt(0).toLowerCase()}${help.meaning.slice(1)}`];
}

/** Up to the object that is really in the way. */
function causes(inventory: Inventory, item: Item): readonly string[] {
  const blocker = blockerOf(inventory, item);
  if (blocker === undefined || blocker.name === nameOf(item)) return [];
  const above = ancestorsOf(inventory.items, item).map((each) => {
    if (typeof each === 'string')
      return `${each}: ${inventory.hidden.has(each) ? 'you may not see it, or it is not there' : 'it is not there'}`;
    const ready = readyOf(each);
    return `${nameOf(each)}: Ready is ${ready?.status ?? 'Unknown'} ${ready?.reason ?? ''}: ${ready?.message ?? ''}`;
  });
  return above;
}

function nextTry(item: Item, ready: Condition | undefined): readonly string[] {
  if (ready === undefined || ready.status === 'True') return [];
  const stalled = item.conditions.some(({ type }) => type === 'Stalled');
  const now = `At once after any change of what is named above, or with: kubectl annotate ${item.kind.toLowerCase()} ${item.metadata.name} --namespace ${item.metadata.namespace ?? ''} --overwrite mooring.dev/reconcile-at="$(date +%s)"`;
  const pace = stalled
    ? 'By itself only now and then (after 1 minute, growing to 30): a person must act first.'
    : reasonHelp(item.kind, ready.reason)?.chapter === 'Tried again'
      ? 'By itself, after pauses that grow from 1 second to 5 minutes.'
      : 'By itself, as soon as what is waited for is there.';
  return [pace, now];
}

function lastError({ status }: Item, nowMs: number): readonly string[] {
  const error = isRecord(status) ? status['lastError'] : undefined;
  if (!isRecord(error)) return [];
  const answer = error['httpStatus'] === undefined ? 'no answer' : `HTTP ${String(error['httpStatus'])}`;
  const code = error['code'] === undefined ? '' : `, code ${String(error['code'])}`;
  return [
    `${String(error['operation'])}, ${age(String(error['time']), nowMs)} ago: ${answer}${code}`,
    String(error['message']),
  ];
}

/** Conditions that are not true, and the fields that differ. */
function missing({ conditions, status }: Item): readonly string[] {
  const own = conditions.filter(
    ({ type, status: value }) => !['Ready', 'Reconciling', 'Stalled'].includes(type) && value !== 'True',
  );
  const drift = isRecord(status) ? status['drift'] : undefined;
  const differing = Array.isArray(drift)
    ? drift
        .filter(isRecord)
        .map((each) => `${String(each['field'])} is ${String(each['observed'])}, should be ${String(each['desired'])}`)
    : [];
  return [...own.map(({ type, reason, message }) => `${type}: ${reason}: ${message}`), ...differing];
}

const NOT_SHOWN = new Set(['conditions', 'lastError', 'drift', 'observedGeneration', 'lastHandledReconcileAt']);

function thereIs({ status }: Item): readonly string[] {
  return isRecord(status)
    ? fieldsOf(Object.fromEntries(Object.entries(status).filter(([name]) => !NOT_SHOWN.has(name))))
    : [];
}

/** One line a field, nested ones by their path. */
function fieldsOf(fields: Readonly<Record<string, unknown>>): readonly string[] {
  const rows = Object.entries(fields).flatMap(([name, value]) => rowsOf(name, value));
  return rows.length === 0 ? [] : table(rows).split('\n');
}

function rowsOf(path: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (isRecord(value)) return Object.entries(value).flatMap(([name, inner]) => rowsOf(`${path}.${name}`, inner));
  if (Array.isArray(value)) {
    if (value.some((element) => typeof element === 'object'))
      return value.flatMap((element, index) => rowsOf(`${path}[${index}]`, element));
    return [[path, value.join(', ')]];
  }
  const text = String(value);
  const [first = ''] = text.split('\n');
  return [[path, text === first ? text : `${first} … (${text.split('\n').length} lines)`]];
}
