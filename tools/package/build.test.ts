import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../control-plane/run.ts';
import { writeBin } from './build.ts';

/** Runs a package's command in a Node that says it is of this version. */
async function under(version: string, name = 'kubectl-mooring') {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'src', 'main.js'), 'console.log("ran", ...process.argv.slice(2));');
  const versions = `{ value: { ...process.versions, node: '${version}' } }`;
  writeFileSync(join(folder, 'version.mjs'), `Object.defineProperty(process, 'versions', ${versions});`);
  writeBin(folder, name);
  return run(process.execPath, ['--import', join(folder, 'version.mjs'), join(folder, 'bin', name), 'status']);
}

test.each(['20.20.2', '22.18.0'])('a package says which Node it needs if it is started by Node %s', async (version) => {
  expect(await under(version)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(`^mooring needs Node 22\\.19 or later, this is ${version} \\(/.*\\): [^\\n]+\\n$`),
    ),
  });
});

test.each(['22.19.0', '24.0.0', '26.10.0'])('a package runs in Node %s', async (version) => {
  expect(await under(version)).toMatchObject({ code: 0, stdout: 'ran status\n' });
  expect(await under(version, 'kubectl_complete-mooring')).toMatchObject({
    code: 0,
    stdout: 'ran __complete status\n',
  });
});
