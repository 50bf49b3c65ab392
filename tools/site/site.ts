import { resolveLink } from './links.ts';
import { createMarkdown, foreignTo, linksOf, type MarkdownLink, type Section, sectionsOf } from './markdown.ts';
import { flawsOf, type Group, navigationOf } from './navigation.ts';
import type { Repository } from './repository.ts';

export const HOME = 'docs/index.md';
const START = 'README.md';

export interface Document {
  readonly path: string;
  readonly title: string;
  readonly sections: readonly Section[];
  readonly links: readonly MarkdownLink[];
}

/** What the site shows, read and checked before anything is written. Paths are the repository's. */
export interface Site {
  /** Everything below docs/, the README, and the documents that these link to. */
  readonly documents: ReadonlyMap<string, Document>;
  /** Linked files that are not documents, and linked folders. Each gets a page that shows it. */
  readonly sources: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
  readonly images: ReadonlySet<string>;
  readonly navigation: readonly Group[];
  /** What would be wrong on the site, such as a dead link; if there are any, the site must not be built. */
  readonly problems: readonly string[];
}

export function readSite(repository: Repository): Site {
  const markdown = createMarkdown();
  const documents = new Map<string, Document>();
  const sources = new Set<string>();
  const folders = new Set<string>();
  const images = new Set<string>();
  const problems: string[] = [];
  let navigation: readonly Group[] = [];
  const left = [HOME, START, ...repository.below('docs').filter((path) => path.endsWith('.md'))];
  const anchors: { readonly link: string; readonly path: string; readonly anchor: string }[] = [];

  const show = (path: string) => {
    if (path.endsWith('.md')) left.push(path);
    else sources.add(path);
  };
  const follow = (from: string, { href, isImage }: MarkdownLink) => {
    const target = resolveLink(repository, from, href);
    const link = `${from}: ${isImage ? 'image' : 'link'} ${href}`;
    if (isImage) {
      // An image from another site would tell that site who is reading.
      if (target.kind === 'source') images.add(target.path);
      else problems.push(`${link} is not a file of the repository`);
      return;
    }
    if (target.kind === 'elsewhere') return;
    if (target.kind === 'nothing') {
      problems.push(`${link} leads to nothing`);
      return;
    }
    if (target.anchor !== undefined) anchors.push({ link, path: target.path, anchor: target.anchor });
    if (target.kind !== 'folder') show(target.path);
    else if (!folders.has(target.path)) {
      folders.add(target.path);
      repository.below(target.path).forEach(show);
    }
  };

  for (let path = left.shift(); path !== undefined; path = left.shift()) {
    if (documents.has(path)) continue;
    if (!repository.has(path)) {
      problems.push(`${path} is missing`);
      continue;
    }
    const tokens = markdown.parse(repository.read(path), {});
    const sections = sectionsOf(tokens);
    const titles = sections.filter(({ level }) => level === 1);
    const [title] = titles;
    if (title === undefined || title !== sections[0] || titles.length > 1)
      problems.push(`${path} does not have exactly one title, at its start`);
    problems.push(...foreignTo(tokens).map((what) => `${path}: ${what} looks different on GitHub and on the site`));
    if (path === HOME) navigation = navigationOf(repository, HOME, tokens);
    const links = linksOf(tokens);
    documents.set(path, { path, title: title?.heading ?? '', sections, links });
    for (const link of links) follow(path, link);
  }

  for (const { link, path, anchor } of anchors)
    if (!documents.get(path)?.sections.some((section) => section.anchor === anchor))
      problems.push(`${link} leads to a heading that does not exist`);
  problems.push(...flawsOf(navigation, HOME, documents.keys()));
  return { documents, sources, folders, images, navigation, problems };
}
