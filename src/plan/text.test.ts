import { describe, expect, it } from 'vitest';
import { styleFor } from '../plugin/command-line/text.ts';
import { changesOf } from './changes.ts';
import type { Outcome, Plan } from './outcome.ts';
import { planText } from './text.ts';

const end = { ready: 'True', reason: 'Running', message: 'It runs' };
const same: Outcome = { name: 'DatabaseSpace shop/production', change: 'none', fields: [], steps: [], end };
const planOf = (...outcomes: readonly Outcome[]): Plan => ({
  outcomes,
  steps: outcomes.flatMap(({ name, steps }) => steps.map((step) => ({ ...step, name }))),
  notes: [],
});
const show = (plan: Plan) => planText(plan, styleFor(false));

describe('planText()', () => {
  it('says that there is nothing to do if there is nothing', () => {
    expect(show(planOf(same))).toBe('Nothing to do: everything is as declared.\n');
  });

  it('shows a changed schema line by line', () => {
    const schema = (line: string) => [{ inline: `define\n  attribute name, value string;\n  ${line}\n` }];
    const changed: Outcome = {
      name: 'Database shop/orders',
      change: 'update',
      fields: [
        { path: 'schema', from: schema('entity person;'), to: schema('entity person, owns name;') },
        { path: 'deletionPolicy', from: 'Retain', to: 'Delete' },
      ],
      steps: [],
      end,
    };
    expect(show(planOf(changed))).toContain(`~ Database shop/orders (update)
    schema:
      …
            define
              attribute name, value string;
      -       entity person;
      +       entity person, owns name;
    deletionPolicy: Retain → Delete
`);
  });

  it('names first what destroys, interrupts and costs, then each object with its fields, steps and end', () => {
    const changed: Outcome = {
      name: 'DatabaseCluster shop/orders',
      change: 'update',
      fields: [{ path: 'storageSizeGB', from: 100, to: 200 }],
      steps: [
        { description: 'suspend it', weight: 'interrupts' },
        { description: 'update it', weight: 'costs' },
      ],
      end,
    };
    const gone: Outcome = {
      name: 'DatabaseUser shop/app',
      change: 'delete',
      fields: [],
      steps: [{ description: 'delete user "app"', weight: 'destroys' }],
      end: undefined,
    };
    expect(
      show({ ...planOf(same, changed, gone), notes: ['Nobody was asked'] }),
    ).toBe(`This destroys data or access for good
  - DatabaseUser shop/app: delete user "app"

This interrupts: servers stop, or sessions end
  ! DatabaseCluster shop/orders: suspend it

This costs money, for something new or larger
  $ DatabaseCluster shop/orders: update it

~ DatabaseCluster shop/orders (update)
    storageSizeGB: 100 → 200
    1. ! suspend it
    2. $ update it
    then Ready is True Running

- DatabaseUser shop/app (delete)
    1. - delete user "app"
    then it is gone

Note: Nobody was asked

3 steps: 1 destructive, 1 interrupting, 1 costly.
`);
  });

  it('shows once what is tried again and again, and does not count it as a cost', () => {
    const refused: Outcome = {
      name: 'DatabaseCluster shop/other',
      change: 'create',
      fields: [],
      steps: [{ description: 'deploy it', weight: 'costs', fails: true }],
      end: { ready: 'False', reason: 'RefusedByCloud', message: 'No such region' },
    };
    expect(show(planOf(refused))).toBe(`This would be tried and would fail
  ✗ DatabaseCluster shop/other: deploy it

+ DatabaseCluster shop/other (create)
    1. ✗ deploy it
    then Ready is False RefusedByCloud: No such region

1 step: 1 failing; 1 object does not become Ready.
`);
  });

  it('says what stays for a deletion that destroys nothing', () => {
    const gone: Outcome = {
      name: 'DatabaseCluster shop/orders',
      change: 'delete',
      fields: [],
      steps: [],
      end: undefined,
      stays: 'cluster "orders" stays in the cloud',
    };
    expect(show(planOf(gone))).toBe(`~ DatabaseCluster shop/orders (delete)
    then the object is gone, and cluster "orders" stays in the cloud

0 steps.
`);
  });

  it('says what is destroyed later for a deletion that waits', () => {
    const waits: Outcome = {
      name: 'DatabaseUser shop/app',
      change: 'delete',
      fields: [],
      steps: [],
      end: { ready: 'Unknown', reason: 'ClusterSuspended', message: 'It waits' },
      later: 'delete user "app"',
    };
    expect(show(planOf(waits))).toBe(`This destroys data or access for good
  - DatabaseUser shop/app: later: delete user "app"

- DatabaseUser shop/app (delete)
    then Ready is Unknown ClusterSuspended: It waits
    later, without a further plan: - delete user "app"

0 steps; 1 object does not become Ready.
`);
  });

  it('shows separately, and does not count, what is due anyway', () => {
    const due: Outcome = {
      ...same,
      steps: [{ description: 'resume it', weight: 'costs' }],
      end: { ready: 'False', reason: 'CloudUnreachable', message: 'No answer' },
      alsoDue: true,
    };
    expect(show(planOf(due))).toBe(`Also due, for other reasons (not counted):

  DatabaseSpace shop/production
    1. $ resume it
    then Ready is False CloudUnreachable: No answer

Nothing to do because of this.
`);
  });

  it('says why something does not become Ready', () => {
    const stuck: Outcome = {
      ...same,
      end: { ready: 'False', reason: 'SpaceNotFound', message: 'There is no such space' },
    };
    const text = show(planOf(stuck));
    expect(text).toContain('then Ready is False SpaceNotFound: There is no such space');
    expect(text).toContain('0 steps; 1 object does not become Ready.');
  });
});

describe('changesOf()', () => {
  it('compares field by field, and lists as a whole', () => {
    const from = { a: 1, b: { c: 'x', d: true }, list: [1] };
    const to = { a: 1, b: { c: 'y' }, list: [1, 2], e: 'new' };
    expect(changesOf(from, to)).toEqual([
      { path: 'b.c', from: 'x', to: 'y' },
      { path: 'b.d', from: true, to: undefined },
      { path: 'e', from: undefined, to: 'new' },
      { path: 'list', from: [1], to: [1, 2] },
    ]);
  });
});
