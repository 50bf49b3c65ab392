/** Replaces a secret in a text. */
export const REDACTED = '[redacted]';

/** Any piece of a secret of this length is treated as the secret: servers cut what they echo. */
export const REDACT_WINDOW = 8;

/** Shorter secrets would match in every second message: a search for many leaves them out. */
export const LEAST_SECRET = 4;

/**
 * Returns the text without any of the secrets: neither as they are, nor as JSON, URI, form, HTML, hexadecimal or Base64 text (at
 * any alignment, so also inside `Basic` credentials), nor pieces of them of 8 characters or more. Empty secrets are ignored.
 *
 * `said`: what the reader of the text knows. Pieces of it stay: if they went, that would show whether a guess at a secret is
 * right, character by character if its beginning is known, as that of a token mostly is.
 */
export function redact(text: string, secrets: readonly string[], said: readonly string[] = []): string {
  return redactor(secrets, said)(text);
}

/** As `redact`, for several texts: the forms of the secrets are found once, and only if there is a text. */
export function redactor(secrets: readonly string[], said: readonly string[] = []): (text: string) => string {
  let forms: ReadonlySet<string> | undefined;
  return (text) => {
    if (text === '') return '';
    forms ??= new Set(secrets.flatMap((secret) => [...formsOf(secret)].map((form) => form.toLowerCase())));
    const lowerCase = text.toLowerCase();
    const covered = new Uint8Array(text.length);
    cover(lowerCase, forms, said, covered);
    // A few letters are longer in lower case. Then positions do not match, and the whole text is withheld.
    if (lowerCase.length !== text.length) covered.fill(secrets.length === 0 ? 0 : 1);
    return replaceCovered(text, covered);
  };
}

/** Marks the characters of `text` that belong to a piece of a form, in time that grows with the sum of text and forms, not the product. */
function cover(text: string, forms: ReadonlySet<string>, said: readonly string[], covered: Uint8Array): void {
  const windows = new Map<number, Window>();
  const found = new Set<string>();
  for (const form of forms) {
    const width = Math.min(REDACT_WINDOW, form.length);
    const inText = windows.get(width) ?? windowOf(text, width);
    windows.set(width, inText);
    for (let start = 0; start + width <= form.length; start++) {
      if (inText.begins[beginOf(form, start, width)] === 0) continue;
      const piece = form.slice(start, start + width);
      if (inText.pieces.has(piece)) found.add(piece);
    }
  }
  if (found.size === 0) return;
  for (const each of said.map((words) => words.toLowerCase()))
    for (const width of windows.keys()) forget(found, each, width);
  for (const width of windows.keys()) {
    for (let start = 0; start + width <= text.length; start++)
      if (found.has(text.slice(start, start + width))) covered.fill(1, start, start + width);
  }
}

/** All pieces of a text of one length. */
interface Window {
  readonly pieces: ReadonlySet<string>;
  /** 1 at `beginOf` of each piece. Without it, cutting every piece out of every form took a tenth of what a verified login costs. */
  readonly begins: Uint8Array;
}

const BEGINS = 4_096;

function windowOf(text: string, width: number): Window {
  const pieces = new Set<string>();
  const begins = new Uint8Array(BEGINS);
  for (let start = 0; start + width <= text.length; start++) {
    pieces.add(text.slice(start, start + width));
    begins[beginOf(text, start, width)] = 1;
  }
  return { pieces, begins };
}

/** A number that follows from the first two characters of the piece at `start`. */
function beginOf(text: string, start: number, width: number): number {
  const second = width === 1 ? 0 : text.charCodeAt(start + 1);
  return (text.charCodeAt(start) * 31 + second) % BEGINS;
}

/** Removes the pieces of `said` in one pass, as it may be a schema of megabytes. */
function forget(found: Set<string>, said: string, width: number): void {
  for (let start = 0; start + width <= said.length; start++) found.delete(said.slice(start, start + width));
}

function replaceCovered(text: string, covered: Uint8Array): string {
  let result = '';
  for (let index = 0; index < text.length; ) {
    const end = endOfRun(covered, index);
    result += covered[index] === 1 ? REDACTED : text.slice(index, end);
    index = end;
  }
  return result;
}

function endOfRun(covered: Uint8Array, start: number): number {
  let end = start + 1;
  while (covered[end] === covered[start]) end++;
  return end;
}

function formsOf(secret: string): ReadonlySet<string> {
  if (secret === '') return new Set();
  const wellFormed = secret.toWellFormed();
  const json = JSON.stringify(secret).slice(1, -1);
  const uri = encodeURIComponent(wellFormed);
  return new Set([
    secret,
    json,
    json.replaceAll('/', '\\/'),
    // JSON written in ASCII only.
    escaped(json, /[\u0080-\uffff]/g),
    // JSON that may stand in HTML, by Go and by Gson.
    escaped(json, /[<>&]/g),
    escaped(json, /[<>&=']/g),
    uri,
    uri.replaceAll('%20', '+'),
    encodeURI(wellFormed),
    ...htmlForms(wellFormed),
    ...hexForms(wellFormed),
    ...base64Forms(wellFormed),
  ]);
}

function escaped(json: string, letters: RegExp): string {
  return json.replace(letters, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** How libraries write the two quotation marks: without the second, and as those of JavaScript, Go, Python and PHP do. */
const HTML_QUOTES = [
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&#34;', '&#39;'],
  ['&quot;', '&#x27;'],
  ['&quot;', '&#039;'],
] as const;

function htmlForms(secret: string): string[] {
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return HTML_QUOTES.map(([quote, apostrophe]) => html.replaceAll('"', quote).replaceAll("'", apostrophe));
}

/** Also with each byte as in a URI, in case the other side keeps no letter as it is. Short secrets would match unrelated numbers. */
function hexForms(secret: string): string[] {
  const hex = Buffer.from(secret, 'utf8').toString('hex');
  return hex.length < REDACT_WINDOW ? [] : [hex, hex.replace(/../g, '%$&')];
}

/** Base64 of the secret at each of the three alignments within a longer text, without what depends on its neighbours. */
function base64Forms(secret: string): string[] {
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret, 'utf8')]);
    const text = bytes.toString('base64').replace(/=+$/, '');
    const first = before === 0 ? 0 : before + 1;
    const last = bytes.length % 3 === 0 ? text.length : text.length - 1;
    const form = text.slice(first, last);
    // A shorter form would match unrelated words.
    if (form.length >= 4) forms.push(form, form.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}
