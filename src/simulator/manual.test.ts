import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ACT_NAMES } from './admin/admin-requests.ts';
import { CLOUD_ROUTES } from './cloud/routes.ts';
import { FAULT_EFFECTS } from './faults/faults.ts';
import { SENTINELS } from './faults/sentinels.ts';
import { KNOB_SPECS } from './knobs.ts';
import { SERVER_ROUTES } from './server/routes.ts';

const manual = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8');

/** The first cells of the table rows that have this many cells, as text. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = manual.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));
}

describe('docs/simulator.md', () => {
  it('lists every knob with its flag', () => {
    const listed = rows('Knobs').map(([flag, knob]) => [flag, knob]);
    const known = Object.entries(KNOB_SPECS).map(([name, { flag }]) => [`\`--${flag}\``, `\`${name}\``]);
    expect(listed).toEqual(known);
  });

  it('lists every sentinel with what it does', () => {
    const known = Object.values(SENTINELS).map(({ part, about }) => [`\`${part}\``, about]);
    expect(rows('Cluster ids that misbehave')).toEqual(known);
  });

  it('lists every fault with what it does', () => {
    const listed = Object.fromEntries(rows('Faults').map(([effect, about]) => [effect, about]));
    const known = Object.entries(FAULT_EFFECTS).map(([effect, about]) => [`\`${effect}\``, about]);
    expect(listed).toEqual(Object.fromEntries(known));
  });

  it('names every operation and every act', () => {
    for (const { operation } of [...CLOUD_ROUTES, ...SERVER_ROUTES]) expect(manual).toContain(`\`${operation}\``);
    for (const name of ACT_NAMES) expect(manual).toContain(`\`${name}\``);
  });
});
