import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { TABLES, write, written } from './document.ts';
import { mutated } from './mutate.ts';
import { MUTATIONS } from './mutations.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

describe('docs/reliability.md', () => {
  it.each(Object.entries(TABLES))('tells of all %s as they are (else: UPDATE_DOCS=1)', (name, table) => {
    if (process.env['UPDATE_DOCS'] === '1') write(name, table());
    expect(written(name)).toBe(table());
  });
});

describe('Deliberate mistakes in the operator', () => {
  it('are at least thirty, and each fits the code', () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(30);
    for (const mutation of MUTATIONS)
      for (const [file] of mutation.changes) expect(mutated(mutation, file)).not.toBe('');
  });
});

test('Each deliberate mistake breaks an invariant, the one that docs/reliability.md names', () => {
  // In a process of its own: modules are loaded with a change in them.
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--mutations'], { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}, 300_000);
