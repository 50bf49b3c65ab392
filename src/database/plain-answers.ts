import { readBytes } from '../base/answer.ts';
import type { HttpResponse } from '../base/http.ts';
import { BadAnswer, decodeUtf8, parseJson } from '../base/json-stream.ts';

/** An answer about something else is no answer. Composed and decomposed letters are the same. */
export function sameName(got: string, asked: string): void {
  if (got.normalize() !== asked.normalize()) throw new BadAnswer('the answer is about something else');
}

/** A JSON string after the document, plain text in the field (compatibility.md). */
export async function readSchemaText(response: HttpResponse): Promise<string> {
  const bytes = await readBytes(response);
  const text = decodeUtf8(bytes);
  const isJson = /^\s*application\/json\b/i.test(response.headers['content-type'] ?? '') || /^\s*"/.test(text);
  if (!isJson || text.trim() === '') return text;
  const value = parseJson(bytes);
  if (value === null) return '';
  if (typeof value !== 'string') throw new BadAnswer('the answer is no schema text');
  return value;
}
