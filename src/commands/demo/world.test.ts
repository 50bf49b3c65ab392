import { expect, test } from 'vitest';
import { giveBack } from './world.ts';

test('The demo removes its own objects, and none of another operator whose kind has the same name', async () => {
  const asked: (readonly string[])[] = [];
  const kubectl = async (args: readonly string[]) => {
    asked.push(args.slice(0, 2));
    return '';
  };
  await giveBack(kubectl, 'mooring-demo-1');
  expect(asked.slice(0, 2)).toEqual([
    ['annotate', 'databases.mooring.dev'],
    ['delete', 'databases.mooring.dev'],
  ]);
  for (const [, resource] of asked) expect(resource).toMatch(/\.mooring\.dev$/);
});
