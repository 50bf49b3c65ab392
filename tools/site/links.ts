import { posix } from 'node:path';
import type { Repository } from './repository.ts';

/** What a link in a document leads to: something in the repository, perhaps one of its headings, or another site. */
export type Target =
  | { readonly kind: 'document' | 'source' | 'folder'; readonly path: string; readonly anchor: string | undefined }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'nothing' };

/** @param from The path of the document that contains the link. */
export function resolveLink(repository: Repository, from: string, link: string): Target {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return { kind: 'elsewhere' };
  const [file = '', anchor] = link.split('#', 2);
  if (file === '') return { kind: 'document', path: from, anchor };
  const path = posix.join(posix.dirname(from), decodeURI(file)).replace(/\/$/, '');
  if (repository.has(path)) return { kind: path.endsWith('.md') ? 'document' : 'source', path, anchor };
  if (repository.below(path).length === 0) return { kind: 'nothing' };
  const start = ['index.md', 'README.md'].map((name) => `${path}/${name}`).find((one) => repository.has(one));
  return start === undefined ? { kind: 'folder', path, anchor } : { kind: 'document', path: start, anchor };
}

/** Where a file of the repository is on the site: as in the repository, except that docs/ is the top. */
export function placeOf(path: string): string {
  return path.replace(/^docs\//, '');
}

/** The page of something in the repository. Pages end in .html, so that they are found with any server or none. */
export function pageOf(kind: 'document' | 'source' | 'folder', path: string): string {
  const place = placeOf(path);
  if (kind === 'document') return place.replace(/\.md$/, '.html');
  return kind === 'folder' ? `${place}/index.html` : `${place}.html`;
}

/** A link from one file of the site to another, relative so that the site can be anywhere. */
export function relativeLink(from: string, to: string): string {
  return encodeURI(posix.relative(posix.dirname(from), to));
}
