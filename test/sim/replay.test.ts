import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../..');
const TIMEOUT_MS = 300_000;

/** Runs the printed command in a shell, as a person would. */
function run(command: string) {
  const { status, stdout } = spawnSync(command, { cwd: ROOT, shell: true, encoding: 'utf8' });
  return { status, said: stdout };
}

/** Splits what a failure prints into broken invariants, what led to them, and the command. */
function partsOf(said: string) {
  const [report = '', command = ''] = said.split('Play it again: ');
  return {
    invariants: [...report.matchAll(/^ {2}([a-z ]+): /gm)].map(([, name]) => name),
    effects: report.match(/^ +\d+\.\ds (?:\d+: )?(?:create|patch|delete|POST|PUT|DELETE) /gm) ?? [],
    logLines: report.match(/^ +\{"level":/gm) ?? [],
    command: command.trim(),
  };
}

const byChance = MUTATIONS.find(({ name }) => name === 'act-on-stale-cache')?.hunt[0];

test.each([
  // Found by a seed, and shrunk: neither its faults nor its chance are needed.
  ['--seed 1 --minutes 5', 'put-before-secret', 'a password is known', /^npm run sim -- --play '[-a-z]+'$/],
  // Needs slow calls: the seed says how slow.
  [`--play '${byChance}'`, 'act-on-stale-cache', 'nothing ended unasked', /^npm run sim -- --play 'spared seed=\d+'$/],
])(
  'A failure with %s and %s prints its invariant, effects and log, and one command plays it again',
  (options, mutation, invariant, form) => {
    const found = run(`npm run --silent sim -- ${options} --with ${mutation}`);
    const { invariants, effects, logLines, command } = partsOf(found.said);
    expect([found.status, invariants], found.said).toEqual([1, expect.arrayContaining([invariant])]);
    expect(effects.length, found.said).toBeGreaterThan(3);
    expect(logLines.length, found.said).toBeGreaterThan(3);
    expect(command).toMatch(form);

    const again = run(`${command} --with ${mutation}`);
    expect(again.status).toBe(1);
    expect(partsOf(again.said)).toEqual(partsOf(found.said));
    // The mistake fails, not the plan.
    expect(run(command)).toMatchObject({ status: 0, said: expect.stringContaining('nothing is wrong') });
  },
  TIMEOUT_MS,
);
