import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { load } from 'js-yaml';
import { expect, inject, onTestFinished, test } from 'vitest';
import { renderCrds } from '../../src/crdgen.ts';
import { VERSION } from '../../src/version.ts';
import { type RunResult, run } from '../../tools/control-plane/run.ts';
import { installCrds, openApi } from '../kube/api.ts';
import { adminKubeconfig, makeNamespace } from '../support/control-plane.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';

test('the npm package, installed as a user does, is the plugin that kubectl finds', { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const api = await openApi(adminKubeconfig());
  onTestFinished(() => api.close());
  await installCrds(api);
  const [block] = shellBlocks(readDocument('docs/kubectl-plugin.md'));
  expect(block).toMatchObject({ test: 'test/process/package.test.ts' });
  // As in the document, but into a folder of its own.
  const global = { ...process.env, npm_config_prefix: folder, npm_config_ignore_scripts: 'true' };
  const { code, stderr } = await run('sh', ['-e', '-c', block?.commands ?? ''], { cwd: ROOT, env: global });
  expect(code, stderr).toBe(0);

  const bin = join(folder, 'bin');
  const { kubectl } = inject('controlPlane');
  const env = {
    ...process.env,
    PATH: [bin, dirname(process.execPath), dirname(kubectl), process.env['PATH']].join(delimiter),
    KUBECONFIG: adminKubeconfig(),
  };
  const command = (name: string, ...args: readonly string[]): Promise<RunResult> =>
    run(name, args, { env, cwd: folder });
  expect(await command(join(bin, 'mooring'), '--version')).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
  expect(await command(join(bin, 'mooring'), 'crds')).toMatchObject({ code: 0, stdout: renderCrds() });
  const namespace = await makeNamespace();
  expect(await command(kubectl, 'mooring', 'status', '--namespace', namespace)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('No DatabaseSpaces'),
  });
  const next = await command(join(bin, 'kubectl_complete-mooring'), 'expl');
  expect(next).toMatchObject({ code: 0, stdout: 'explain\n:4\n' });

  const archive = join(ROOT, `dist/mooring-${VERSION}-krew.tar.gz`);
  const { spec } = load(readFileSync(join(ROOT, 'dist/krew.yaml'), 'utf8')) as {
    readonly spec: { readonly platforms: readonly { sha256: string; bin: string }[] };
  };
  const [platform] = spec.platforms;
  expect(platform?.sha256).toBe(createHash('sha256').update(readFileSync(archive)).digest('hex'));
  const unpacked = mkdtempSync(join(folder, 'krew-'));
  await run('tar', ['--extract', '--file', archive], { cwd: unpacked });
  const asPlugin = await command(join(unpacked, platform?.bin ?? ''), '--version');
  expect(asPlugin).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
});
