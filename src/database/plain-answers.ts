import { readBytes } from '../base/answer.ts';
import type { HttpResponse } from '../base/http.ts';
import { BadAnswer, decodeUtf8, parseJson } from '../base/json-stream.ts';

/** An answer about something else is no answer. Composed and decomposed letters are the same. */
export function sameName(got: string, asked: string): void {
  if (got.normalize() !== asked.normalize()) throw new BadAnswer('the answer is about something else');
}

/** A JSON string after the document, plain text in the field (compatibility.md); no schema text begins like other JSON. */
export async function readSchemaText(response: HttpResponse): Promise<string> {
  const bytes = await readBytes(response);
  const text = decodeUtf8(bytes);
  const start = text.trimStart()[0];
  if (start === '{' || start === '[') throw new BadAnswer('the answer is no schema text');
  if (start !== '"') return text.trim() === 'null' ? '' : text;
  const value = parseJson(bytes);
  if (typeof value !== 'string') throw new BadAnswer('the answer is no schema text');
  return value;
}
