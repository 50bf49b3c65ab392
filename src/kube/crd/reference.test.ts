import { expect, test } from 'vitest';
import * as z from 'zod';
import { referenceOf } from './reference.ts';

test('referenceOf() has a row for each field, rule and column', () => {
  const rule = { rule: 'true', message: 'size | weight <limited>', fieldPath: '.size' };
  const text = referenceOf({
    kind: 'Thing',
    plural: 'things',
    singular: 'thing',
    shortNames: ['th'],
    categories: ['mooring'],
    description: 'A thing.',
    spec: z
      .object({
        name: z.string().describe('Its name.'),
        size: z.int().min(1).max(9).default(3).describe('Its size.'),
        tags: z.array(z.string()).max(4).optional().describe('Its tags.'),
      })
      .meta({ 'x-kubernetes-validations': [rule] })
      .describe('Desired.'),
    status: z.object({ state: z.string().optional().describe('Its state.') }).describe('Found.'),
    printerColumns: [{ name: 'State', type: 'string', jsonPath: '.status.state', description: 'State.', priority: 1 }],
  });
  expect(text).toContain('| `spec.name` | string | required | Its name. |');
  expect(text).toContain('| `spec.size` | integer; 1 to 9 | `3` | Its size. |');
  expect(text).toContain('| `spec.tags` | list of strings; up to 4 items |  | Its tags. |');
  expect(text).toContain('| `spec.size` | size \\| weight &lt;limited> |');
  expect(text).toContain('| `status.state` | string | Its state. |');
  expect(text).toContain('| State | `-o wide` | State. |');
});
