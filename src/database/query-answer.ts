import type { Pace } from '../base/pace.ts';
import type { HttpResponse } from '../base/transport.ts';
import { LIST_LIMITS, pagelessBody, readIfAny, shaped } from '../http/answer.ts';
import { parseJson, readSplitJson } from '../http/json-stream.ts';
import { type Concept, conceptKindSchema, conceptSchemas, queryResponseSchema, rowSchema } from './schema.ts';

/** One concept-row answer: what each variable of the query is bound to; `undefined` if to nothing. */
export type ConceptRow = ReadonlyMap<string, Concept | undefined>;

/** "Query response". */
export type QueryAnswer = {
  /** `read`, `write` and `schema` are known. */
  readonly queryType: string | undefined;
  /** Set if answers were cut. All changes of a write query are applied all the same. */
  readonly warning: string | undefined;
} & (
  | { readonly answerType: 'ok' }
  | { readonly answerType: 'conceptRows'; readonly answers: readonly ConceptRow[] }
  /** Built by the query's fetch clause; integers that a number cannot hold exactly are bigints. */
  | { readonly answerType: 'conceptDocuments'; readonly answers: readonly unknown[] }
  /** A type newer than this code. */
  | { readonly answerType: 'other'; readonly answerTypeName: string; readonly answers: readonly unknown[] }
);

/** Reads a query response, giving other work a turn between answers. Fails with BadAnswer. */
export async function readQueryAnswer(response: HttpResponse, pace: Pace): Promise<QueryAnswer> {
  const answer = await readIfAny(response, (any) => readAnswer(any, pace));
  return answer ?? { queryType: undefined, warning: undefined, answerType: 'ok' };
}

async function readAnswer(response: HttpResponse, pace: Pace): Promise<QueryAnswer> {
  const options = { member: 'answers', ...LIST_LIMITS };
  const exactly = (bytes: Uint8Array) => parseJson(bytes, true);
  const { outer, elements } = await readSplitJson(pagelessBody(response), options, pace, exactly);
  const { queryType, answerType, warning } = shaped(queryResponseSchema, outer, '');
  // The status alone says it too (compatibility.md).
  const cut = response.status === 206 ? 'The answers were cut.' : undefined;
  const common = { queryType, warning: warning ?? cut };
  switch (answerType) {
    case 'ok':
      return { ...common, answerType };
    case 'conceptRows':
      return { ...common, answerType, answers: await readRows(elements, pace) };
    case 'conceptDocuments':
      return { ...common, answerType, answers: elements };
    default:
      return { ...common, answerType: 'other', answerTypeName: answerType, answers: elements };
  }
}

/** Rows cannot be read as they arrive: `answerType` may come after them. */
async function readRows(elements: readonly unknown[], pace: Pace): Promise<readonly ConceptRow[]> {
  const rows: ConceptRow[] = [];
  for (const [index, element] of elements.entries()) {
    rows.push(readRow(element, `answers.${index}`));
    if (pace.due) await pace.rest();
  }
  return rows;
}

function readRow(element: unknown, where: string): ConceptRow {
  const { data } = shaped(rowSchema, element, where);
  return new Map(
    Object.entries(data).map(([variable, concept]) => [variable, readConcept(concept, `${where}.data`)] as const),
  );
}

function readConcept(value: unknown, where: string): Concept | undefined {
  if (value === null || value === undefined) return undefined;
  const { kind } = shaped(conceptKindSchema, value, where);
  const schema = Object.hasOwn(conceptSchemas, kind) ? conceptSchemas[kind] : undefined;
  return schema === undefined ? { kind: 'other', concept: value } : shaped(schema, value, where);
}
