import type { HttpResponse } from '../base/transport.ts';
import { readBytes } from '../http/answer.ts';
import { BadAnswer, decodeUtf8, parseJson } from '../http/json-stream.ts';

/** Throws if an answer is about something else. Composed and decomposed letters are the same. */
export function sameName(got: string, asked: string): void {
  if (got.normalize() !== asked.normalize()) throw new BadAnswer('the answer is about something else');
}

/** Reads a JSON string, as in the document, or plain text, as in practice (compatibility.md); no schema text begins like other JSON. */
export async function readSchemaText(response: HttpResponse): Promise<string> {
  const bytes = await readBytes(response);
  const text = decodeUtf8(bytes);
  const start = text.trimStart()[0];
  if (start === '{' || start === '[') throw new BadAnswer('the answer is not schema text');
  if (start !== '"') return text.trim() === 'null' ? '' : text;
  const value = parseJson(bytes);
  if (typeof value !== 'string') throw new BadAnswer('the answer is not schema text');
  return value;
}
