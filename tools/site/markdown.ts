import markdownIt, { type MarkdownIt, type Token } from 'markdown-it';
import { renderCode } from './code.ts';
import { escapeHTML } from './html.ts';

/** A heading and the text up to the next one: what the search finds. The first may have no heading. */
export interface Section {
  /** 1 for the title; 0 for text before any heading. */
  readonly level: number;
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

export interface MarkdownLink {
  readonly href: string;
  readonly text: string;
  readonly isImage: boolean;
}

/** How links and images of a document are rewritten for its page. */
export interface Rewrites {
  link(href: string): string;
  image(href: string): string;
}

/** Markdown as on GitHub, as far as the documents use it: headings with anchors, tables, hidden comments. */
export function createMarkdown(): MarkdownIt {
  const markdown = markdownIt({ html: true });
  markdown.core.ruler.push('anchors', ({ tokens }) => setAnchors(tokens));
  markdown.core.ruler.push('comments', (state) => {
    state.tokens = withoutComments(state.tokens);
    for (const token of state.tokens) if (token.children !== null) token.children = withoutComments(token.children);
  });
  const { rules } = markdown.renderer;
  rules['heading_close'] = (tokens, index) => {
    const { tag } = tokenAt(tokens, index);
    const anchor = tokenAt(tokens, index - 2).attrGet('id');
    return tag === 'h1' ? '</h1>\n' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this">#</a></${tag}>\n`;
  };
  // Long names and values may break after such a character, and nowhere else.
  rules['code_inline'] = (tokens, index) => {
    const parts = tokenAt(tokens, index).content.split(/(?<=[\w\])}"'][./,:=])(?=[\w"'{[(])/);
    const code = parts.map(escapeHTML).join('<wbr>');
    // Otherwise a browser would break a flag after its dashes.
    return `<code>${code.replace(/(?<=^|\s)--?\w[\w-]*/g, '<span class="flag">$&</span>')}</code>`;
  };
  rules['fence'] = (tokens, index) => {
    const { content, info } = tokenAt(tokens, index);
    return renderCode(content, info.trim());
  };
  // The library's own rule drops code from the alternative text.
  rules['image'] = (tokens, index) => {
    const token = tokenAt(tokens, index);
    return `<img src="${escapeHTML(token.attrGet('src') ?? '')}" alt="${escapeHTML(textOf(token.children ?? []))}">`;
  };
  // Lets wide tables scroll, instead of the page.
  rules['table_open'] = () => '<div class="table"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  return markdown;
}

/** @param tokens From `parse` of the same Markdown. */
export function renderMarkdown(markdown: MarkdownIt, tokens: readonly Token[], rewrites: Rewrites): string {
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    if (token.type === 'link_open') token.attrSet('href', rewrites.link(token.attrGet('href') ?? ''));
    if (token.type === 'image') token.attrSet('src', rewrites.image(token.attrGet('src') ?? ''));
  }
  return markdown.renderer.render([...tokens], markdown.options, {});
}

/** What would look different here and on GitHub: HTML other than comments, and diagrams, which are not drawn yet. */
export function foreignTo(tokens: readonly Token[]): readonly string[] {
  return tokens
    .flatMap((token) => [token, ...(token.children ?? [])])
    .filter((token) => isHTML(token) || (token.type === 'fence' && token.info === 'mermaid'))
    .map(({ type, content }) => (type === 'fence' ? 'mermaid' : content.trim()));
}

export function linksOf(tokens: readonly Token[]): readonly MarkdownLink[] {
  return tokens.flatMap(({ children }) =>
    (children ?? []).flatMap((token, index, all): MarkdownLink[] => {
      if (token.type === 'image')
        return [{ href: token.attrGet('src') ?? '', text: textOf(token.children ?? []), isImage: true }];
      if (token.type !== 'link_open') return [];
      const end = all.findIndex(({ type }, at) => at > index && type === 'link_close');
      return [{ href: token.attrGet('href') ?? '', text: textOf(all.slice(index, end)), isImage: false }];
    }),
  );
}

export function sectionsOf(tokens: readonly Token[]): readonly Section[] {
  const sections: Section[] = [];
  let open = { level: 0, anchor: '', heading: '', text: [] as string[] };
  const close = () => {
    const text = open.text.join(' ');
    if (open.level > 0 || text !== '') sections.push({ ...open, text });
  };
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      close();
      const heading = textOf(tokens[index + 1]?.children ?? []);
      open = { level: Number(token.tag.slice(1)), anchor: token.attrGet('id') ?? '', heading, text: [] };
    } else if (token.type === 'fence' || (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open')) {
      open.text.push(token.children === null ? token.content : textOf(token.children));
    }
  }
  close();
  return sections;
}

function tokenAt(tokens: readonly Token[], index: number): Token {
  const token = tokens[index];
  if (token === undefined) throw new Error(`There is no token ${index}`);
  return token;
}

/** Sets the same anchors as GitHub, so that a link works in both places. */
function setAnchors(tokens: readonly Token[]): void {
  const times = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const words = textOf(tokens[index + 1]?.children ?? []);
    const anchor = words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const before = times.get(anchor) ?? 0;
    times.set(anchor, before + 1);
    token.attrSet('id', before === 0 ? anchor : `${anchor}-${before}`);
  }
  setWordAnchors(tokens, times);
}

/** Gives rows that explain a word, such as a reason, an anchor for messages and alerts to link to. GitHub has none of these. */
function setWordAnchors(tokens: readonly Token[], taken: Map<string, number>): void {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'tr_open') continue;
    const [cell, ...others] = tokens[index + 2]?.children ?? [];
    if (cell?.type !== 'code_inline' || others.length > 0 || !/^[A-Z][A-Za-z]+$/.test(cell.content)) continue;
    const anchor = cell.content.toLowerCase();
    if (taken.has(anchor)) continue;
    taken.set(anchor, 1);
    token.attrSet('id', anchor);
  }
}

const isHTML = ({ type }: Token) => type === 'html_block' || type === 'html_inline';

function withoutComments(tokens: readonly Token[]): Token[] {
  return tokens.filter((token) => !isHTML(token) || !/^\s*<!--[\s\S]*-->\s*$/.test(token.content));
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map(({ type, content, children }) => {
      if (type === 'softbreak' || type === 'hardbreak') return ' ';
      return type === 'image' ? textOf(children ?? []) : content;
    })
    .join('');
}
