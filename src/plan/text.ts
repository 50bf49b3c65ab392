import type { Style } from '../plugin/command-line/text.ts';
import type { Change } from './changes.ts';
import { differenceOf, isManyLines } from './difference.ts';
import { isTold, ownOf } from './due.ts';
import type { Outcome, Plan } from './outcome.ts';
import { WEIGHTS, type Weight } from './weight.ts';

const CALLED: Readonly<Record<Weight, string>> = {
  destroys: 'destroys data or access for good',
  interrupts: 'interrupts: servers stop, or sessions end',
  costs: 'costs money, for something new or larger',
  changes: 'changes',
};

/** The plan as text: first what needs attention, then each object with its fields, steps and end. */
export function planText(plan: Plan, style: Style): string {
  const own = ownOf(plan);
  const due = plan.outcomes.filter(({ alsoDue }) => alsoDue);
  const parts = [
    ...WEIGHTS.filter((weight) => weight !== 'changes').map((weight) => heavy(own, weight, style)),
    failing(own, style),
    ...own.outcomes.filter(isTold).map((outcome) => outcomeText(outcome, style)),
    due.length === 0 ? '' : style.dim(ALSO_DUE),
    ...due.map((outcome) => outcomeText(outcome, style)),
    plan.notes.map((note) => `Note: ${note}`).join('\n'),
    summary(own, due.length > 0),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const ALSO_DUE = 'Also due, for other reasons (not counted):';

function heavy({ steps, outcomes }: Plan, weight: Weight, style: Style): string {
  const now = steps.filter((step) => step.weight === weight && !step.fails);
  const later = weight === 'destroys' ? outcomes.flatMap(laterStep) : [];
  const found = [...now, ...later];
  if (found.length === 0) return '';
  const paint = weight === 'destroys' ? style.bad : style.going;
  const lines = found.map(({ name, description }) => `  ${paint(MARKS[weight])} ${name}: ${description}`);
  return [paint(`This ${CALLED[weight]}`), ...lines].join('\n');
}

function laterStep({ name, later }: Outcome) {
  return later === undefined ? [] : [{ name, description: `later: ${later}` }];
}

function failing({ steps }: Plan, style: Style): string {
  const found = steps.filter(({ fails }) => fails);
  if (found.length === 0) return '';
  const lines = found.map(({ name, description }) => `  ${style.bad(FAILS)} ${name}: ${description}`);
  return [style.bad('This would be tried and would fail'), ...lines].join('\n');
}

const FAILS = '✗';
const MARKS: Readonly<Record<Weight, string>> = { destroys: '-', interrupts: '!', costs: '$', changes: '~' };
const CHANGE_MARKS = { create: '+', update: '~', delete: '-', none: ' ' } as const;

/** Deleting an object need not destroy anything. */
function markOf({ change, steps, later }: Outcome): string {
  const destroys = later !== undefined || steps.some(({ weight, fails }) => weight === 'destroys' && !fails);
  return change === 'delete' && !destroys ? MARKS.changes : CHANGE_MARKS[change];
}

function outcomeText(outcome: Outcome, style: Style): string {
  const { name, change, fields, steps, end, stays, later } = outcome;
  const lines = [
    `${style.strong(`${markOf(outcome)} ${name}`)}${change === 'none' ? '' : style.dim(` (${change})`)}`,
    ...fields.map((field) => fieldText(field, style)),
    ...steps.map(
      ({ description, weight, fails }, index) => `    ${index + 1}. ${fails ? FAILS : MARKS[weight]} ${description}`,
    ),
    endText(end, stays, style),
    ...(later === undefined ? [] : [`    later, without a further plan: ${MARKS.destroys} ${later}`]),
  ];
  return lines.join('\n');
}

function fieldText({ path, from, to }: Change, style: Style): string {
  if (!isManyLines(from, to)) return `    ${path}: ${shown(from)} → ${shown(to)}`;
  const paint = { '-': style.bad, '+': style.good, ' ': style.dim, '…': style.dim };
  const lines = differenceOf(from, to).map(({ mark, text }) => `      ${paint[mark](`${mark} ${text}`.trimEnd())}`);
  return [`    ${path}:`, ...lines].join('\n');
}

function endText(end: Outcome['end'], stays: string | undefined, style: Style): string {
  if (end === undefined)
    return stays === undefined ? '    then it is gone' : `    then the object is gone, and ${stays}`;
  const paint = end.ready === 'True' ? style.good : style.bad;
  return `    then Ready is ${paint(`${end.ready} ${end.reason}`)}${end.ready === 'True' ? '' : `: ${end.message}`}`;
}

function shown(value: unknown): string {
  return value === undefined ? '(not set)' : typeof value === 'string' ? value : JSON.stringify(value);
}

function summary({ steps, outcomes }: Plan, isMoreDue: boolean): string {
  const stuck = outcomes.filter(({ end }) => end !== undefined && end.ready !== 'True').length;
  if (!outcomes.some(isTold))
    return isMoreDue ? 'Nothing to do because of this.' : 'Nothing to do: everything is as declared.';
  const words = { destroys: 'destructive', interrupts: 'interrupting', costs: 'costly', changes: 'other' };
  const counts = WEIGHTS.map(
    (weight) => [steps.filter((step) => step.weight === weight && !step.fails).length, words[weight]] as const,
  );
  const failed = [steps.filter(({ fails }) => fails).length, 'failing'] as const;
  const parts = [...counts, failed].filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const rest = stuck === 0 ? '' : `; ${stuck} ${stuck === 1 ? 'object does' : 'objects do'} not become Ready`;
  return `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}${rest}.`;
}
