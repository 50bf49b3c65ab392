import { escapeHTML } from './html.ts';

/**
 * A block of code. `language` is the word after the fence, or a file's ending; a block without one is what a command prints,
 * which nobody copies. Lines and words of commands are elements: a long line goes on indented, where it looks like no other
 * command, and it ends between words.
 */
export function renderCode(code: string, language: string): string {
  const text = code.replace(/\n$/, '');
  const shown = language === 'sh' ? text.split('\n').map(renderLine).join('\n') : escapeHTML(text);
  const attribute = language === '' ? '' : ` data-language="${escapeHTML(language)}"`;
  return `<div class="code"><pre${attribute}><code>${shown}\n</code></pre></div>\n`;
}

function renderLine(line: string): string {
  // Only a word with signs in it could be broken elsewhere than at its ends.
  const words = line.split(' ').map((word) => (/^\w*$/.test(word) ? word : `<b>${escapeHTML(word)}</b>`));
  return `<span>${words.join(' ')}</span>`;
}
