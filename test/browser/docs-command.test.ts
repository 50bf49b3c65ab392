import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { ROOT } from '../support/readme.ts';

describe('npm run docs', () => {
  const MAIN = [join(ROOT, 'tools/bootstrap.mjs'), 'tools/site/main.ts'];
  let root: string;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'docs-'));
    await run('git', ['init', '--quiet'], { cwd: root });
    mkdirSync(join(root, 'docs'));
    writeFileSync(join(root, 'README.md'), '# Read me\n');
    writeFileSync(join(root, 'docs/index.md'), '# Home\n');
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test('writes nothing if a link leads nowhere, and names it', async () => {
    writeFileSync(join(root, 'README.md'), '# Read [me](me.md)\n');
    const { code, stderr } = await run(process.execPath, MAIN, { cwd: root });
    expect([code, stderr]).toEqual([1, 'README.md: link me.md leads to nothing\n']);
    expect(existsSync(join(root, 'dist'))).toBe(false);
  });

  test('replaces a site, but no folder that holds something else', async () => {
    for (const _ of ['new', 'again']) {
      const { code, stderr } = await run(process.execPath, MAIN, { cwd: root });
      expect([code, stderr]).toEqual([0, '']);
    }
    const { code, stderr } = await run(process.execPath, [...MAIN, '--output=docs'], { cwd: root });
    expect([code, stderr]).toEqual([
      1,
      `${realpathSync(root)}/docs holds something other than a site: name another folder\n`,
    ]);
    expect(readdirSync(join(root, 'docs'))).toEqual(['index.md']);
  });

  test('-- --serve shows a document as it is now, to this machine only', async () => {
    const child = spawn(process.execPath, [...MAIN, '--serve'], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(async () => {
      child.kill();
      await once(child, 'close');
    });
    let printed = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const port = await vi.waitUntil(() => /http:\/\/localhost:(\d+)\//.exec(printed)?.[1], { timeout: 20_000 });
    const home = async (host: string) => {
      const answer = await fetch(`http://${host}:${port}/`, { signal: AbortSignal.timeout(10_000) });
      return `${answer.status} ${await answer.text()}`;
    };
    expect(await home('127.0.0.1')).toMatch(/^200 [\s\S]*<h1 id="home">Home<\/h1>/);
    // A busy machine may have missed a change: saving again helps.
    const isShown = async () => {
      writeFileSync(join(root, 'docs/index.md'), '# Home again\n');
      return (await home('127.0.0.1')).includes('Home again');
    };
    await vi
      .waitUntil(isShown, { timeout: 60_000, interval: 500 })
      .catch((error) => expect.fail(`${error}\n${printed}`));
    const [elsewhere] = Object.values(networkInterfaces())
      .flat()
      .filter((address) => address?.family === 'IPv4' && !address.internal);
    if (elsewhere !== undefined) expect(await home(elsewhere.address)).toBe('403 ');
  }, 120_000);
});
