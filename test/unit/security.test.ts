import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FLAGS } from '../../src/config.ts';
import { ownRules, policyRules } from '../../src/rbac.ts';
import { ROOT } from '../support/readme.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const text = read('docs/security.md');

/** The table of rights: resources → verbs. */
const rights = new Map(
  (text.split('## Rights')[1] ?? '')
    .split('### ')[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (Resources|-)/.test(line))
    .map((line): [string, string] => {
      const [, resources = '', verbs = ''] = line.split('|').map((cell) => cell.trim());
      return [resources.replaceAll('`', ''), verbs];
    }),
);

/** Returns the table's name for the resources of a rule. */
function nameOf(resources: readonly string[]): string {
  if (resources.every((resource) => resource.endsWith('/status'))) return 'their status';
  return resources.length > 1 ? 'its own kinds' : (resources[0] ?? '');
}

describe('docs/security.md', () => {
  test("lists the operator's rights in the namespaces that it watches, and no others", () => {
    const rules = new Map<string, readonly string[]>();
    for (const { resources = [], verbs } of policyRules) {
      const name = nameOf(resources);
      rules.set(name, [...(rules.get(name) ?? []), ...verbs].toSorted());
    }
    const table = [...rights].filter(([resources]) => !resources.startsWith('leases'));
    const inTable = table.map(([resources, verbs]) => [resources, verbs.split(', ').toSorted()]);
    expect(Object.fromEntries(inTable)).toEqual(Object.fromEntries(rules));
  });

  test('lists its rights in its own namespace', () => {
    expect(new Set(ownRules.flatMap(({ resources = [] }) => resources))).toEqual(new Set(['leases']));
    const table = [...rights].filter(([resources]) => resources.startsWith('leases'));
    expect(table.map(([resources, verbs]) => [resources, verbs.split(', ')])).toEqual(
      ownRules.map(({ when, resourceNames, verbs }) => {
        const which = resourceNames === undefined ? ', in its own namespace' : `, there, of name ${resourceNames}`;
        return [`leases${when === undefined ? which : ', there, with --shard-by-space'}`, verbs];
      }),
    );
  });

  test('names only flags and chart values that exist', () => {
    const flags = [...text.matchAll(/`--([a-z-]+)/g)].map(([, name = '']) => name);
    expect(flags.length).toBeGreaterThan(5);
    expect(flags.filter((name) => !Object.hasOwn(FLAGS, name))).toEqual([]);
    const values = read('charts/mooring/values.yaml');
    const set = [...(text.split('## What to set')[1] ?? '').matchAll(/^- `(\w+)/gm)].map(([, name]) => name);
    expect(set.length).toBeGreaterThan(3);
    for (const name of set) expect(values).toMatch(new RegExp(`^${name}:`, 'm'));
  });

  test('verifies the identity that the release signs with', () => {
    const identity = /^identity=https:\/\/github\.com\/OWNER\/REPOSITORY\/(\S+)@refs\/tags\/v/m.exec(text)?.[1];
    expect(identity).toBe('.github/workflows/release.yml');
    expect(read(identity ?? '')).toContain(`/${identity}@$GITHUB_REF`);
    expect(text).toContain('issuer=https://token.actions.githubusercontent.com');
  });
});
