import { GROUP, isOfGroup } from '../base/group.ts';
import { isRecord } from '../base/is-record.ts';
import { ABANDON, ACCEPT_IDENTITY, isPaused, mistakesIn, RECONCILE_AT } from '../kube/annotations.ts';
import { type Condition, findStatusCondition, isOwn } from '../kube/condition.ts';
import { PASS } from '../kube/failure.ts';
import { isSummary } from '../kube/summary.ts';
import type { Reached } from './command-line/reach.ts';
import { age, type Style } from './command-line/text.ts';
import { specFields, statusFields } from './fields.ts';
import type { Inventory } from './inventory.ts';
import { type Item, NOT_SEEN, nameOf, readinessOf, readyOf, stalledOf } from './item.ts';
import { commandFor } from './kinds.ts';
import { splitNode } from './node-name.ts';
import { reasonHelp } from './reasons.ts';
import { warningOf } from './status.ts';
import { ancestorsOf, blockerOf, NOT_THERE } from './tree.ts';

/** Everything about one object: what is declared, what exists, what is missing and why, and what a person can do. */
export function explainText(inventory: Inventory, item: Item, nowMs: number, style: Style): string {
  const { status, reason } = readinessOf(item);
  const isSeen = reason !== NOT_SEEN;
  const paint = status === 'True' ? style.good : status === 'False' ? style.bad : style.going;
  const parts = [
    `${style.strong(nameOf(item))}: ${isSeen ? `Ready is ${paint(`${status} ${reason}`)}${lasting(item, nowMs)}` : paint('not looked at yet')}`,
    section('Why', why(inventory, item), style),
    section('Paused', pausedLines(inventory, item), style),
    section('Annotations', annotationLines(item), style),
    section('Deletion', deletionLines(inventory, item, nowMs), style),
    section('What to do', whatToDo(inventory, item), style),
    section('Comes from', causes(inventory, item), style),
    section('Next try', nextTry(inventory, item), style),
    section('Last error', lastError(item, nowMs), style),
    section('Missing', missing(item), style),
    section('Exists', statusFields(item.status), style),
    section('Declared', specFields(item.spec), style),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** The same for programs. */
export function explanationOf(inventory: Inventory, item: Item): object {
  const { kind, metadata, spec, status } = item;
  const { status: ready, reason, message } = readinessOf(item);
  return {
    kind,
    namespace: metadata.namespace,
    name: metadata.name,
    ready,
    reason,
    message,
    operator: inventory.operator ?? null,
    paused: isPaused(item.metadata),
    mistakes: annotationLines(item),
    deletedAt: metadata.deletionTimestamp ?? null,
    finalizers: metadata.finalizers ?? [],
    blockedBy: blockerOf(inventory, item) ?? null,
    whatToDo: whatToDo(inventory, item),
    comesFrom: causes(inventory, item),
    nextTry: nextTry(inventory, item),
    lastError: status['lastError'] ?? null,
    missing: missing(item),
    status,
    spec,
  };
}

function section(title: string, lines: readonly string[], style: Style): string {
  return lines.length === 0 ? '' : [style.strong(title), ...lines.map((line) => `  ${line}`)].join('\n');
}

function pausedLines(reached: Reached, item: Item): readonly string[] {
  return isPaused(item.metadata)
    ? [`Mooring changes nothing about it until: ${commandFor('unpause', item, reached)}`]
    : [];
}

/** Annotations that look like ours but have no effect. */
function annotationLines({ kind, metadata }: Item): readonly string[] {
  const mistakes = mistakesIn(kind, metadata);
  return mistakes === undefined ? [] : [mistakes];
}

/** A kubectl command for the object. It names the group, as kubectl may know a kind Database of another operator. */
function command(verb: string, { reach = '' }: Reached, { kind, metadata }: Item, what: string): string {
  return `kubectl ${verb} ${kind.toLowerCase()}.${GROUP} ${metadata.name} --namespace ${metadata.namespace ?? ''}${reach} ${what}`;
}

function annotate(reached: Reached, item: Item, what: string): string {
  return command('annotate', reached, item, what);
}

/** What holds up its deletion, and how to delete it all the same. */
function deletionLines(reached: Reached, item: Item, nowMs: number): readonly string[] {
  const { metadata } = item;
  if (metadata.deletionTimestamp === undefined) return [];
  const finalizers = metadata.finalizers ?? [];
  const others = finalizers.filter((name) => !isOfGroup(name));
  const isHeld = others.length < finalizers.length;
  // An operator that runs looks within seconds. Without one an annotation has no effect, and nobody else removes the finalizer.
  const isLeft = readinessOf(item).reason === NOT_SEEN && nowMs - Date.parse(metadata.deletionTimestamp) >= LEFT_MS;
  const since = `Deletion began ${age(metadata.deletionTimestamp, nowMs)} ago`;
  const lines = [finalizers.length === 0 ? since : `${since}, and the object is held by ${finalizers.join(', ')}`];
  if (isHeld) {
    const abandon = annotate(reached, item, `${ABANDON}=true`);
    lines.push(
      `Mooring holds it until its work there is done. To remove it at once, and leave what it stands for as it is: ${abandon}`,
    );
    const lacksRight = readinessOf(item).reason === FORBIDDEN;
    if (isLeft || lacksRight) lines.push(`That ${lacksRight ? 'may have' : 'has'} no effect while ${NO_RIGHTS}`);
  }
  if (isHeld && isLeft) {
    const patch = JSON.stringify({ metadata: { finalizers: others } });
    const release = command('patch', reached, item, `--type=merge --patch='${patch}'`);
    lines.push(
      `If no operator will act here again, this removes the object, and leaves what it stands for as it is: ${release}`,
    );
  }
  if (others.length > 0) lines.push(`Held by others, not by Mooring: ${others.join(', ')}`);
  return lines;
}

const LEFT_MS = 60_000;

/** The reason if the operator lacks a right but may write the status. */
const FORBIDDEN = 'KubernetesForbidden';
const NO_RIGHTS =
  'no operator runs, or it lacks a right in this namespace: deleting a namespace also deletes the Role in it. Grant it again first';

/** The time since the last change of the status; the reason may have changed since. */
function lasting(item: Item, nowMs: number): string {
  const ready = readyOf(item);
  return ready === undefined ? '' : ` (${ready.status} for ${age(ready.lastTransitionTime, nowMs)})`;
}

function why(inventory: Inventory, item: Item): readonly string[] {
  const { reason, message } = readinessOf(item);
  const before = reason === NOT_SEEN ? readyOf(item) : undefined;
  return [
    message,
    ...(before === undefined ? [] : [`Before that, Ready was ${before.status} ${before.reason}: ${before.message}`]),
    ...(inventory.operator === undefined ? [] : [inventory.operator]),
  ];
}

function whatToDo(inventory: Inventory, item: Item): readonly string[] {
  const warned = warningOf(item) === undefined ? undefined : { name: nameOf(item), reason: readinessOf(item).reason };
  const blocker = blockerOf(inventory, item) ?? warned;
  if (blocker === undefined) return [];
  if (blocker.reason === NOT_THERE) return [`Create ${blocker.name}, or correct the reference to it`];
  const help = reasonHelp(splitNode(blocker.name).kind, blocker.reason);
  if (help === undefined) return [];
  const isOwn = blocker.name === nameOf(item);
  // The message is shown above.
  if (isOwn && ONLY_THE_MESSAGE.test(help.remedy ?? '')) return [];
  const remedy = help.remedy ?? `Wait: ${help.meaning.charAt(0).toLowerCase()}${help.meaning.slice(1)}`;
  // The message that this remedy mentions is the blocker's, shown below.
  return [isOwn ? remedy : `For ${blocker.name}: ${remedy}`, ...takeOver(inventory, item)];
}

/** A remedy that sums up what messages say, or a single clause that sends the reader to the message. */
const ONLY_THE_MESSAGE = /^As the message says\b|^[^,;.:]*the message[^,;.:]*$/;

/** How to take over the cluster that replaced the object's own. */
function takeOver(reached: Reached, item: Item): readonly string[] {
  const { reason, message } = readinessOf(item);
  const [, createdAt] = reason === 'IdentityChanged' ? (ACCEPTED.exec(message) ?? []) : [];
  return createdAt === undefined
    ? []
    : [`To take it over: ${annotate(reached, item, `--overwrite ${ACCEPT_IDENTITY}=${createdAt}`)}`];
}

const ACCEPTED = new RegExp(`${ACCEPT_IDENTITY}=([^\\s,]+)`);

/** The chain up to the object that is really in the way. */
function causes(inventory: Inventory, item: Item): readonly string[] {
  const blocker = blockerOf(inventory, item);
  if (blocker === undefined || blocker.name === nameOf(item)) return [];
  return ancestorsOf(inventory.items, item).flatMap((each) => {
    if (typeof each === 'string')
      return [
        `${each}: ${inventory.hidden.has(each) ? 'you may not see it, or it does not exist' : 'it does not exist'}`,
      ];
    const { status, reason, message } = readinessOf(each);
    // A Ready object is not in the way.
    return status === 'True' ? [] : [`${nameOf(each)}: Ready is ${status} ${reason}: ${message}`];
  });
}

function nextTry(reached: Reached, item: Item): readonly string[] {
  const ready = readinessOf(item);
  if (ready.status === 'True' || ready.reason === NOT_SEEN) return [];
  if (isPaused(item.metadata)) return ['Not before it is unpaused.'];
  const now = `At once after a change of this object or of another one named above, or with: ${annotate(reached, item, `--overwrite ${RECONCILE_AT}="$(date +%s)"`)}`;
  return [paceOf(item, ready), now];
}

function paceOf(item: Item, { reason }: Pick<Condition, 'reason'>): string {
  if (reason === 'InvalidSpec') return 'Once that is corrected.';
  if (reason === 'SchemaRefused') return 'By itself every 10 minutes: a person must act first.';
  if (stalledOf(item) !== undefined)
    return 'By itself only now and then (after 1 minute, growing to 30): a person must act first.';
  // What differs, and is left so, waits for nothing.
  if (findStatusCondition(item.conditions, 'Reconciling') === undefined)
    return 'Not by itself: a person must act first.';
  return PACES[reasonHelp(item.kind, reason)?.chapter ?? ''] ?? 'By itself, as soon as what it waits for happens.';
}

/** By the chapter of conditions.md that the reason is in. */
const PACES: Readonly<Record<string, string>> = {
  'Tried again': 'By itself, after pauses that grow from 1 second to 5 minutes.',
  // Such as a deletion. Not all that may be in its way is watched, such as labels of namespaces.
  'A person must act':
    'By itself if what is in the way changes, and otherwise only now and then: a person must act first.',
};

function lastError(item: Item, nowMs: number): readonly string[] {
  const error = item.status['lastError'];
  if (!isRecord(error)) return [];
  const operation = String(error['operation']);
  const message = String(error['message']);
  const answers = [
    // For a whole pass, it is not known whether anything was asked.
    ...(operation === PASS && error['httpStatus'] === undefined ? [] : [answerOf(error['httpStatus'], message)]),
    ...(error['code'] === undefined ? [] : [`code ${String(error['code'])}`]),
  ];
  const isSaid = readinessOf(item).message.includes(message);
  if (isSaid && operation === PASS && answers.length === 0) return [];
  return [
    `${operation}, ${age(String(error['time']), nowMs)} ago${answers.length === 0 ? '' : `: ${answers.join(', ')}`}`,
    // The message is shown above already.
    ...(isSaid ? [] : [message]),
  ];
}

function answerOf(httpStatus: unknown, message: string): string {
  if (httpStatus !== undefined) return `HTTP ${String(httpStatus)}`;
  return NOT_SENT.test(message) ? 'not sent' : 'no answer';
}

/** What messages say of a call that was not made at all. */
const NOT_SENT = /: (?:not sent|held back), because /;

/** Conditions that are not true and fields that differ, without repeating what was said already. */
function missing(item: Item): readonly string[] {
  const { conditions, status } = item;
  const ready = readinessOf(item);
  if (ready.reason === NOT_SEEN) return [];
  const own = conditions
    .filter((condition) => isOwn(condition) && !isSummary(condition) && condition.status !== 'True')
    // Nothing is missing from a cluster that is suspended as its spec says.
    .filter(({ reason }) => !(ready.status === 'True' && reason === ready.reason))
    .map((condition) => conditionText(condition, ready));
  const differing = (Array.isArray(status['drift']) ? status['drift'].filter(isRecord) : [])
    .map((each) => `${String(each['field'])} is ${String(each['observed'])}, should be ${String(each['desired'])}`)
    .filter((text) => !own.some((line) => line.includes(text)));
  return [...own, ...differing];
}

function conditionText({ type, status, reason, message }: Condition, ready: Pick<Condition, 'message'>): string {
  const said = `${type} is ${status} (${reason})`;
  return message === ready.message ? `${said}, for the same reason` : `${said}: ${message}`;
}
