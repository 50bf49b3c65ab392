import { escapeHTML } from './html.ts';

/**
 * Renders a block of code. `language` is the word after the fence, or a file's extension; a block without one is a command's output,
 * which nobody copies. Lines and words of commands become elements, so that a long line breaks between words and continues indented,
 * where it does not look like another command.
 */
export function renderCode(code: string, language: string): string {
  const text = code.replace(/\n$/, '');
  const shown = language === 'sh' ? text.split('\n').map(renderLine).join('\n') : escapeHTML(text);
  const attribute = language === '' ? '' : ` data-language="${escapeHTML(language)}"`;
  return `<div class="code"><pre${attribute}><code>${shown}\n</code></pre></div>\n`;
}

function renderLine(line: string): string {
  // Only a word with punctuation could be broken inside.
  const words = line.split(' ').map((word) => (/^\w*$/.test(word) ? word : `<b>${escapeHTML(word)}</b>`));
  return `<span>${words.join(' ')}</span>`;
}
