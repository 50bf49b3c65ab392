import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { findChromium, openPage } from './chromium.ts';
import { serveFolder } from './static-server.ts';

const browser = findChromium();

test.skipIf(browser === undefined)('a question that is running while the page changes is asked again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chromium-test-'));
  writeFileSync(join(folder, 'page.html'), '<h1>A page</h1>');
  const server = await serveFolder(folder, '/');
  const page = await openPage(browser ?? '');
  onTestFinished(async () => {
    await page.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  await page.goto(`${server.baseURL}page.html`);
  // On the page before, it never gets an answer, except the browser's that the page is gone.
  const arrived = page.until(`location.protocol === 'file:' || new Promise(() => {})`);
  await Promise.all([arrived, page.goto(pathToFileURL(join(folder, 'page.html')).href)]);
  expect(await page.evaluate('document.querySelector("h1").innerText')).toBe('A page');
});
