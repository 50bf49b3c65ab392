import { expect, onTestFinished, test } from 'vitest';
import { makeNamespace } from '../support/control-plane.ts';
import { readDocument, shellBlocks } from '../support/readme.ts';
import { userShell } from '../support/user-shell.ts';

test("the README's commands work by hand, one after the other", async () => {
  const shell = await userShell(await makeNamespace());
  onTestFinished(() => shell.end());
  const printed: string[] = [];
  for (const { commands, test: how } of shellBlocks(readDocument('README.md'))) {
    const command = commands.replace('mooring simulate', `mooring simulate --port=${shell.simulatorPort}`);
    if (how === 'in the background') shell.background(command);
    if (how !== 'in order') continue;
    const { code, stdout, stderr } = await shell.run(commands);
    expect(code, `${commands}\n${stdout}${stderr}`).toBe(0);
    printed.push(stdout);
  }
  const all = printed.join('\n');
  expect(all).toMatch(/databasecluster\.mooring\.dev\/orders +True +Running +running/);
  expect(printed).toContain('admin');
  expect(all).toContain('databasecluster.mooring.dev "orders" deleted');
});
