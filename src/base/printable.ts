/*
 * Text that others wrote, for a person's terminal: a value in a database or a field of an object must not move the cursor, set
 * the title or clipboard, or reverse a line. Such characters are shown as JSON's escapes, so that JSON stays the same.
 */

/** What reverses a line, or a part of it. */
const DIRECTIONS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
/** Tabs and line ends may stay in a text; the rest of Unicode's control characters may not. */
const CONTROLS = new RegExp(`[[\\p{Cc}--[\\n\\t]]${DIRECTIONS}]`, 'gv');
/** In a cell nothing may end the line either. */
const CONTROLS_AND_ENDS = new RegExp(`[\\p{Cc}\\u2028\\u2029${DIRECTIONS}]`, 'gv');

/** Our own colours, as `styleFor()` makes them. */
export const COLOUR = new RegExp(`(${'\u001B'}\\[(?:0|1|2|31|32|33)m)`);

/** `coloured`: the text contains our own colours, which stay. */
export function printable(text: string, coloured = false): string {
  if (!coloured) return text.replace(CONTROLS, escaped);
  // Every second part is a colour.
  return text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(CONTROLS, escaped)))
    .join('');
}

/** As `printable`, on one line. */
export function printableCell(text: string): string {
  return text.replace(CONTROLS_AND_ENDS, escaped);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  return SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Control and direction characters could forge log lines or reverse a message. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\u061c\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu, ' ')
    .trim();
}

/** A name in a message: quoted, on one line, of bounded length. */
export function quoted(name: string): string {
  const line = oneLine(name);
  return `"${line.length <= 80 ? line : `${line.slice(0, 79).toWellFormed()}…`}"`;
}
