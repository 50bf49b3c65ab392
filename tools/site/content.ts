import { posix } from 'node:path';
import { renderCode } from './code.ts';
import { escapeHTML } from './html.ts';
import { pageOf, placeOf, relativeLink, resolveLink } from './links.ts';
import { createMarkdown, renderMarkdown } from './markdown.ts';
import type { Repository } from './repository.ts';

/** The content of a document's page. */
export function renderDocument(repository: Repository, path: string, text: string): string {
  const page = pageOf('document', path);
  const markdown = createMarkdown();
  return renderMarkdown(markdown, markdown.parse(text, {}), {
    link: (href) => {
      const target = resolveLink(repository, path, href);
      if (target.kind === 'elsewhere' || target.kind === 'nothing') return href;
      const anchor = target.anchor === undefined ? '' : `#${target.anchor}`;
      if (target.path === path && anchor !== '') return anchor;
      return `${relativeLink(page, pageOf(target.kind, target.path))}${anchor}`;
    },
    image: (href) => {
      const target = resolveLink(repository, path, href);
      return target.kind === 'source' ? relativeLink(page, placeOf(target.path)) : href;
    },
  });
}

/** The content of the page that shows a file, with a link to the file itself. */
export function renderSource(repository: Repository, path: string): string {
  const raw = escapeHTML(encodeURI(posix.basename(path)));
  return `<h1>${escapeHTML(path)}</h1>
<p><a href="${raw}" download>Download</a></p>
${renderCode(repository.read(path), posix.extname(path).slice(1))}`;
}

/** The content of the page that lists a folder and everything below it. */
export function renderFolder(repository: Repository, folder: string): string {
  const items = repository.below(folder).map((path) => {
    const to = pageOf(path.endsWith('.md') ? 'document' : 'source', path);
    const link = escapeHTML(relativeLink(pageOf('folder', folder), to));
    return `<li><a href="${link}">${escapeHTML(path.slice(folder.length + 1))}</a></li>`;
  });
  return `<h1>${escapeHTML(placeOf(folder))}</h1>\n<ul>\n${items.join('\n')}\n</ul>\n`;
}
