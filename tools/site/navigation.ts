import type { Token } from 'markdown-it';
import { resolveLink } from './links.ts';
import { linksOf } from './markdown.ts';
import type { Repository } from './repository.ts';

export interface Entry {
  readonly name: string;
  /** The document's path. */
  readonly path: string;
}

/** A part of the menu. */
export interface Group {
  readonly name: string;
  readonly entries: readonly Entry[];
}

/**
 * The menu is the list on the home page: one item per group, which begins with its name in bold, and one link per page. So it
 * is written once, and the home page names every page on GitHub as well.
 *
 * @param tokens Of the home page, whose path is `home`.
 */
export function navigationOf(repository: Repository, home: string, tokens: readonly Token[]): readonly Group[] {
  const items = tokens.filter(({ type }, index) => type === 'inline' && tokens[index - 2]?.type === 'list_item_open');
  return items.flatMap((item) => {
    const children = item.children ?? [];
    const bold = children.findIndex(({ type }) => type === 'strong_open');
    const name = children[bold + 1]?.content.replace(/:$/, '');
    if (bold < 0 || name === undefined) return [];
    const entries = linksOf([item]).flatMap(({ href, text }): Entry[] => {
      const target = resolveLink(repository, home, href);
      return target.kind === 'document' ? [{ name: capitalized(text), path: target.path }] : [];
    });
    return [{ name, entries }];
  });
}

/** Pages below docs/ that the menu does not name, and pages that it names twice. */
export function flawsOf(groups: readonly Group[], home: string, documents: Iterable<string>): readonly string[] {
  const named = groups.flatMap(({ entries }) => entries.map(({ path }) => path));
  const missing = [...documents].filter((path) => path.startsWith('docs/') && path !== home && !named.includes(path));
  const twice = named.filter((path, index) => named.indexOf(path) !== index);
  return [
    ...missing.map((path) => `${path} is not in the list of ${home}, which is the menu`),
    ...twice.map((path) => `${path} is twice in the list of ${home}, which is the menu`),
  ];
}

const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
