import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { pageOf } from './links.ts';
import type { Site } from './site.ts';

/** How the index is built and read; assets/search.js has the same options for reading. */
const OPTIONS = { fields: ['heading', 'title', 'text'], storeFields: ['page', 'heading', 'title', 'text'] };

/** The search index by section, as a script: a page opened without a server can load nothing else. */
export function renderSearchIndex(site: Site): string {
  const index = new MiniSearch(OPTIONS);
  for (const { path, title, sections } of site.documents.values())
    for (const { level, anchor, heading, text } of sections) {
      const page = `${pageOf('document', path)}${level > 1 ? `#${anchor}` : ''}`;
      index.add({ id: page, page, title, heading: heading || title, text });
    }
  return `window.searchIndex = ${JSON.stringify({ options: OPTIONS, index })};\n`;
}

/** The library as a separate script, with its licence. */
export function searchLibrary(): string {
  const main = fileURLToPath(import.meta.resolve('minisearch'));
  const licence = readFileSync(new URL('../../LICENSE.txt', `file://${main}`), 'utf8').trim();
  return `/* MiniSearch\n\n${licence} */\n${readFileSync(new URL('../umd/index.js', `file://${main}`), 'utf8')}`;
}
