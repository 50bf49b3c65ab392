import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../tools/control-plane/run.ts';
import { ROOT, readDocument, shellBlocks } from '../support/readme.ts';
import { findChromium, openPage, type Page } from './chromium.ts';
import { type StaticServer, serveFolder } from './static-server.ts';

/* The site as it is published: what npm run docs writes, served below some path, with nothing else in reach. */

const OUTPUT = mkdtempSync(join(tmpdir(), 'site-'));
const BASE = '/some/place/';
const PHONE = { width: 360, height: 740 };
const LAPTOP = { width: 1280, height: 800 };
const DESK = { width: 1440, height: 900 };

beforeAll(async () => {
  const { code, stdout, stderr } = await run(
    'npm',
    ['run', '--silent', 'docs', '--', `--output=${OUTPUT}`, `--base=${BASE}`],
    {
      cwd: ROOT,
    },
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain(join(OUTPUT, 'index.html'));
}, 60_000);

afterAll(() => rmSync(OUTPUT, { recursive: true }));

/** All pages except the one for wrong addresses, which may be shown anywhere. */
const pages = () => globSync('**/*.html', { cwd: OUTPUT, exclude: ['404.html'] }).toSorted();
const read = (file: string) => readFileSync(join(OUTPUT, file), 'utf8');
const all = (html: string, pattern: RegExp) => [...html.matchAll(pattern)].map((match) => match[1] ?? '');
const anchors = (file: string) => all(read(file), / id="([^"]*)"/g);

describe('the built site', () => {
  it('has a page for every document', () => {
    const documents = globSync('docs/**/*.md', { cwd: ROOT }).map((path) =>
      path.replace(/^docs\/(.*)\.md$/, '$1.html'),
    );
    expect(documents.length).toBeGreaterThan(20);
    expect(documents.filter((page) => !pages().includes(page))).toEqual([]);
  });

  it('has links only to pages, anchors, images, styles and scripts that exist, and to nothing outside of it', () => {
    const files = new Set(globSync('**/*', { cwd: OUTPUT }));
    const known = new Map(pages().map((page) => [page, new Set(anchors(page))]));
    const wrong: string[] = [];
    let checked = 0;
    for (const page of pages()) {
      for (const link of all(read(page), / (?:href|src|data-library|data-index)="([^"]*)"/g)) {
        if (/^https?:/.test(link)) continue;
        const [path = '', anchor] = link.split('#');
        const file = path === '' ? page : posix.join(posix.dirname(page), decodeURI(path));
        checked++;
        if (link.startsWith('/') || !files.has(file)) wrong.push(`${page}: ${link}`);
        else if (anchor !== undefined && !known.get(file)?.has(anchor)) wrong.push(`${page}: ${link}`);
      }
    }
    expect(checked).toBeGreaterThan(2_000);
    expect(wrong).toEqual([]);
  });

  it('has each anchor once a page', () => {
    const twice = pages().flatMap((page) =>
      anchors(page).flatMap((id, index, ids) => (ids.indexOf(id) === index ? [] : [`${page}#${id}`])),
    );
    expect(twice).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    const taken = pages().flatMap((page) =>
      all(read(page), /<(?:link|script|img|iframe|source)\b[^>]*(?:href|src)="((?:https?:)?\/\/[^"]*)"/g),
    );
    expect(taken).toEqual([]);
    expect(read('assets/site.css')).not.toMatch(/url\(|@import/);
  });

  it('shows a file that a document links to, and has the file itself beside it', () => {
    expect(read('deploy/samples/user.yaml')).toBe(readDocument('deploy/samples/user.yaml'));
    expect(read('deploy/samples/user.yaml.html')).toContain('kind: DatabaseUser');
  });

  it('carries the licences of what it is delivered with', () => {
    expect(read('assets/minisearch.js')).toMatch(
      /^\/\* MiniSearch\n\nCopyright[\s\S]*MIT|^\/\* MiniSearch[\s\S]*Permission is hereby/,
    );
  });
});

/** A newcomer's machine may have no Chromium; the one that runs the project's own checks does. */
const browser = findChromium();

describe.skipIf(browser === undefined)('the site in Chromium', { timeout: 60_000, retry: 1 }, () => {
  let server: StaticServer;
  let page: Page;

  beforeAll(async () => {
    server = await serveFolder(OUTPUT, BASE);
    page = await openPage(browser ?? '');
  }, 60_000);

  afterAll(async () => {
    await page?.close();
    await server?.close();
  });

  const open = (path: string) => page.goto(`${server.baseURL}${path}`);
  const text = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  const count = (selector: string) => page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);

  /** Clicks with the mouse in the middle of what is shown. */
  async function click(selector: string): Promise<void> {
    const found = (await page.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element?.scrollIntoView({ block: 'center' });
      const box = element?.getBoundingClientRect();
      return box && { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`)) as { x: number; y: number } | undefined;
    if (found === undefined) throw new Error(`There is no ${selector}`);
    await page.click(found.x, found.y);
  }

  const arrived = (path: string) =>
    page.until(`location.href === ${JSON.stringify(`${server.baseURL}${path}`)} && document.readyState === 'complete'`);

  it('begins with what Mooring is, and goes on by clicks', async () => {
    await page.appear({ ...DESK, scheme: 'light' });
    await open('index.html');
    expect([await page.evaluate('document.title'), await text('h1')]).toEqual(['Mooring', 'Mooring']);
    await click('#menu a[href="guides/getting-started.html"]');
    await arrived('guides/getting-started.html');
    expect(await text('h1')).toBe('Getting started');
    expect(await text('#menu [aria-current]')).toBe('Getting started');
    await click('article a[href="../README.html#install"]');
    await arrived('README.html#install');
    expect(
      await page.evaluate(`(() => {
      const { top } = document.querySelector('#install').getBoundingClientRect();
      return top >= document.querySelector('header').offsetHeight && top < innerHeight;
    })()`),
    ).toBe(true);
    await click('.neighbours [rel=next]');
    await arrived('guides/getting-started.html');
  });

  it('finds a chapter by words of its text, and leads there', async () => {
    await open('guides/rotation.html');
    await click('search input');
    await page.type('pasword leaked');
    await page.until(`document.querySelector('#results:not([hidden]) a') !== null`);
    expect(await text('#results a strong')).toBe('A password that leaked');
    expect(await count('#results mark')).toBeGreaterThan(0);
    await click('#results a');
    await arrived('guides/rotation.html#a-password-that-leaked');
  });

  it('says so when it finds nothing', async () => {
    await click('search input');
    await page.type('xyzzyx');
    await page.until(`document.querySelector('#results').innerText.includes('Nothing found')`);
  });

  it('shows tables, code and braces', async () => {
    await open('users.html');
    expect(await text('article')).toContain('{{ password | urlencode }}');
    expect(await text('article pre')).toContain('kind: DatabaseUser');
    await open('reference.html');
    expect(await count('article table')).toBeGreaterThan(8);
    expect(await text('article')).toContain('{{ username }}');
  });

  it.each(['light', 'dark'] as const)('can be read when it is %s', async (scheme) => {
    await page.appear({ ...DESK, scheme });
    await open('conditions.html');
    const colors = (await page.evaluate(COLORS)) as Readonly<Record<string, readonly [string, string]>>;
    expect(Object.keys(colors)).toHaveLength(SAMPLES.length);
    const faint = Object.entries(colors).filter(([, [front, back]]) => contrast(front, back) < 4.5);
    expect(faint).toEqual([]);
    const [ground = ''] = Object.values(colors).map(([, back]) => back);
    expect(luminance(ground) > 0.5).toBe(scheme === 'light');
  });

  it.each([PHONE, LAPTOP])('shows images and commands whole, and no page is wider than $width px', async (size) => {
    await page.appear({ ...size, scheme: 'light' });
    const wrong: string[] = [];
    let [images, commands] = [0, 0];
    // The files for Argo CD are many, and like the others of their form.
    for (const path of pages().filter((one) => !one.startsWith('deploy/argocd/'))) {
      await open(path);
      const [width, shown, cut] = (await page.evaluate(`[
        document.documentElement.scrollWidth,
        [...document.images].map((image) => image.naturalWidth),
        [...document.querySelectorAll('pre[data-language=sh]')].map((block) => block.scrollWidth > block.clientWidth),
      ]`)) as [number, readonly number[], readonly boolean[]];
      images += shown.length;
      commands += cut.length;
      if (width > size.width) wrong.push(`${path} is ${width} wide`);
      if (shown.includes(0)) wrong.push(`${path} lacks an image`);
      if (cut.includes(true)) wrong.push(`${path} cuts commands`);
    }
    expect(wrong).toEqual([]);
    expect(images).toBeGreaterThan(2);
    expect(commands).toBeGreaterThan(40);
  });

  it('copies commands as they are written, with a button on the edge of their block, which says so', async () => {
    await page.appear({ ...PHONE, scheme: 'light' });
    await open('guides/environments.html');
    const written = shellBlocks(readDocument('docs/guides/environments.md'));
    expect(await count('pre[data-language=sh]')).toBe(written.length);
    for (const [at, { commands }] of written.entries()) {
      const button = `.code:nth-child(${await page.evaluate(`(() => {
        const block = document.querySelectorAll('pre[data-language=sh]')[${at}].parentElement;
        return [...block.parentElement.children].indexOf(block) + 1;
      })()`)}) .copy`;
      await click(button);
      await page.until(`document.querySelector(${JSON.stringify(button)}).innerText === 'Copied'`);
      expect(await page.clipboard()).toBe(commands);
    }
    await open('README.html');
    const [all, offered] = [await count('pre'), await count('.copy')];
    expect(offered).toBe(await count('pre[data-language]'));
    // The output of a command is only for reading.
    expect(Number(all)).toBeGreaterThan(Number(offered));
  });

  it('shows the current page in the menu, however long that is', async () => {
    await page.appear({ ...LAPTOP, height: 500, scheme: 'light' });
    await open('limits.html');
    const [top, bottom] = (await page.evaluate(`(() => {
      const { top, bottom } = document.querySelector('#menu [aria-current]').getBoundingClientRect();
      return [top, bottom];
    })()`)) as [number, number];
    expect([top > 0, bottom < 500]).toEqual([true, true]);
  });

  it('has its menu behind a button on a phone', async () => {
    await page.appear({ ...PHONE, scheme: 'light' });
    await open('index.html');
    expect(await page.evaluate(`document.querySelector('#menu').checkVisibility()`)).toBe(false);
    await click('.menu-button');
    await page.until(`document.querySelector('#menu').checkVisibility()`);
    await click('#menu a[href="users.html"]');
    await arrived('users.html');
  });

  it('requests nothing from elsewhere, and reports no errors', () => {
    expect(page.requested().filter((url) => !url.startsWith(server.baseURL))).toEqual([]);
    expect(page.requested().length).toBeGreaterThan(100);
    expect(page.complaints()).toEqual([]);
  });

  it('can be read and searched as files, without a server', async () => {
    const before = page.requested().length;
    await page.appear({ ...DESK, scheme: 'light' });
    await page.goto(pathToFileURL(join(OUTPUT, 'guides/rotation.html')).href);
    await click('search input');
    await page.type('connectionSecret');
    await page.until(`document.querySelector('#results:not([hidden]) a') !== null`);
    await click('#results a');
    await page.until(`!location.href.includes('rotation') && document.readyState === 'complete'`);
    expect(await text('article')).toContain('connectionSecret');
    const outside = page
      .requested()
      .slice(before)
      .filter((url) => !url.startsWith(pathToFileURL(OUTPUT).href));
    expect([outside, page.complaints()]).toEqual([[], []]);
  });

  it('can be read on from a wrong address', async () => {
    const before = page.complaints().length;
    await open('guides/nowhere/near.html');
    expect(await text('h1')).toBe('There is no such page');
    expect(await page.evaluate('document.styleSheets.length')).toBe(2);
    await click('search input');
    await page.type('pasword leaked');
    await page.until(`document.querySelector('#results:not([hidden]) a') !== null`);
    await click('article a');
    await arrived('index.html');
    // The browser reports only that the address was wrong.
    const told = page.complaints().slice(before);
    expect(told).toHaveLength(1);
    expect(told[0]).toContain('nowhere/near.html');
  });
});

/** What is read on a page, and where on it. */
const SAMPLES = [
  'article p',
  'article p code',
  'pre',
  'article p a',
  'th',
  'td',
  'td code',
  '#menu h2',
  '#menu a',
  '.contents a',
  '::placeholder',
];

/** The colours of each: of the text, and of what is behind it. */
const COLORS = `Object.fromEntries(${JSON.stringify(SAMPLES)}.map((selector) => {
  const element = document.querySelector(selector === '::placeholder' ? 'search input' : selector);
  const front = getComputedStyle(element, selector === '::placeholder' ? '::placeholder' : undefined).color;
  let behind = element;
  while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
  return [selector, [front, getComputedStyle(behind ?? document.body).backgroundColor]];
}))`;

/** As WCAG 2 defines it, which requires 4.5. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [...color.matchAll(/[\d.]+/g)].map(([number]) => {
    const part = Number(number) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
