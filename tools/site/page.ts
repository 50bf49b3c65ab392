import { escapeHTML } from './html.ts';
import { pageOf, relativeLink } from './links.ts';
import type { Group } from './navigation.ts';
import { type Document, HOME, type Site } from './site.ts';

/** Files that every page needs. */
export const ASSETS = {
  frame: 'assets/site.css',
  text: 'assets/text.css',
  script: 'assets/page.js',
  search: 'assets/search.js',
  library: 'assets/minisearch.js',
} as const;
export const SEARCH_INDEX = 'assets/search-index.js';
const NAME = 'Mooring';

/** Makes the browser contact only the site itself, whatever a document contains. */
const POLICY =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'";

export interface Shown {
  /** Where the page is on the site. */
  readonly page: string;
  readonly title: string;
  /** The page's content, as HTML. */
  readonly content: string;
  /** Absent on a page that is not made from a document. */
  readonly document?: Document | undefined;
  /** The path of the site on its server, for a page that can be shown at any address; otherwise links are relative. */
  readonly base?: string;
}

/** Renders a whole page around its content. With `policy: false`, a development server may add its tools to it. */
export function renderPage(
  site: Site,
  { page, title, content, document, base = '' }: Shown,
  { policy = true } = {},
): string {
  const link = (to: string) => escapeHTML(`${base}${relativeLink(page, to)}`);
  const isHome = document?.path === HOME;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy ? `<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n` : ''}<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHTML(isHome ? NAME : `${title} · ${NAME}`)}</title>
<link rel="icon" href="${link('assets/icon.svg')}">
<link rel="stylesheet" href="${link(ASSETS.frame)}">
<link rel="stylesheet" href="${link(ASSETS.text)}">
<script defer src="${link(ASSETS.script)}"></script>
<script defer src="${link(ASSETS.search)}" data-library="${link(ASSETS.library)}" data-index="${link(SEARCH_INDEX)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header>
<button type="button" popovertarget="menu" class="menu-button">Menu</button>
<a class="brand" href="${link(pageOf('document', HOME))}">${NAME}</a>
<search>
<input type="search" placeholder="Search" aria-label="Search" aria-controls="results" autocomplete="off" spellcheck="false">
<div id="results" class="results" role="region" aria-label="Results" aria-live="polite" hidden></div>
</search>
</header>
<div class="columns">
<nav id="menu" class="side menu" popover aria-label="Pages">
${site.navigation.map((group) => renderGroup(group, page, link)).join('\n')}
</nav>
<main id="content">
<article>
${content}</article>
${document === undefined ? '' : renderNeighbours(site, document, page)}
</main>
${document === undefined ? '' : renderContents(document)}
</div>
</body>
</html>
`;
}

/** The page for addresses that do not exist: GitHub Pages and most other servers look for this name at the top. */
export const NOT_FOUND = '404.html';

/** @param base Where the site is on its server, with slashes at both ends: links cannot be relative, since any address may lead here. */
export function renderNotFound(site: Site, base: string): string {
  const content = `<h1>There is no such page</h1>
<p>It may have moved: search for it, or begin at the <a href="${escapeHTML(base)}index.html">home page</a>.</p>
`;
  return renderPage(site, { page: NOT_FOUND, title: 'No such page', content, base });
}

function renderGroup({ name, entries }: Group, page: string, link: (to: string) => string): string {
  const items = entries.map((entry) => {
    const to = pageOf('document', entry.path);
    const current = to === page ? ' aria-current="page"' : '';
    return `<li><a href="${link(to)}"${current}>${escapeHTML(entry.name)}</a></li>`;
  });
  return `<h2>${escapeHTML(name)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
}

/** Links to the previous and next page, in the order of the menu. */
function renderNeighbours(site: Site, { path }: Document, page: string): string {
  const entries = [{ name: 'Home', path: HOME }, ...site.navigation.flatMap((group) => group.entries)];
  const at = entries.findIndex((entry) => entry.path === path);
  if (at < 0) return '';
  const links = (['prev', 'next'] as const).flatMap((rel) => {
    const entry = entries[rel === 'prev' ? at - 1 : at + 1];
    const to = entry && escapeHTML(relativeLink(page, pageOf('document', entry.path)));
    return entry === undefined ? [] : [`<a rel="${rel}" href="${to}">${escapeHTML(entry.name)}</a>`];
  });
  return `<nav class="neighbours" aria-label="Before and after">${links.join('')}</nav>`;
}

function renderContents({ sections }: Document): string {
  const headings = sections.filter(({ level }) => level === 2);
  if (headings.length < 2) return '';
  const items = headings.map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeHTML(heading)}</a></li>`);
  return `<nav class="side contents" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>`;
}
