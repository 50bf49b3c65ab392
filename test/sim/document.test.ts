import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { TABLES, write, written } from './document.ts';
import { FAULT_NAMES } from './faults.ts';
import { INVARIANTS } from './invariants.ts';
import { MUTATIONS } from './mutations.ts';
import { READ_FAULT_NAMES } from './reads.ts';
import { SCENARIOS } from './scenarios.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const ROOT = join(import.meta.dirname, '../..');

describe('docs/reliability.md', () => {
  it.each(Object.entries(TABLES))('has the current table of %s (if not, run with UPDATE_DOCS=1)', (name, table) => {
    if (process.env['UPDATE_DOCS'] === '1') write(name, table());
    expect(written(name)).toBe(table());
  });

  it('names, for each kind of mistake, what looks for it, and nothing that does not exist', () => {
    const known = new Set([
      ...[...FAULT_NAMES, ...READ_FAULT_NAMES, ...SCENARIOS.map(({ name }) => name)].map((name) => `\`${name}\``),
      ...Object.keys(INVARIANTS).map((name) => `"${name}"`),
    ]);
    const isThere = (named: string) => known.has(named) || existsSync(join(ROOT, named.slice(1, -1)));
    const [, kinds = ''] = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8').split('## Kinds of mistakes');
    const rows = kinds
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .slice(2);
    expect(rows.length).toBeGreaterThanOrEqual(24);
    for (const row of rows) {
      const [kind = '', by = ''] = row.slice(2).split(' | ');
      const named = by.match(/`[^`]+`|"[^"]+"/g) ?? [];
      expect(named, kind).not.toEqual([]);
      expect(named.filter((each) => !isThere(each))).toEqual([]);
      const [mutations = ''] = /(?<=mutations? )[-a-z0-9]+(?:, [-a-z0-9]+)*/.exec(by) ?? [];
      const names = mutations.split(', ').filter((name) => name !== '');
      expect(names.filter((name) => !MUTATIONS.some((mutation) => mutation.name === name))).toEqual([]);
    }
  });
});

test('Each deliberate mistake breaks an invariant, the one that docs/reliability.md names', () => {
  // In a process of its own, as it loads changed modules.
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--mutations'], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}, 900_000);
