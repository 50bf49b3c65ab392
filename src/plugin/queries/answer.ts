import { toJson } from '../../base/to-json.ts';
import type { QueryAnswer } from '../../database/query-answer.ts';
import type { Concept, ConceptValue } from '../../database/schema.ts';
import { table } from '../command-line/text.ts';

/** The answer for people: a table for rows, JSON for documents. */
export function answerText(answer: QueryAnswer): string {
  const warning = answer.warning === undefined ? '' : `${answer.warning}\n`;
  switch (answer.answerType) {
    case 'ok':
      return `Done.\n${warning}`;
    case 'conceptRows': {
      const variables = [...new Set(answer.answers.flatMap((row) => [...row.keys()]))];
      const rows = answer.answers.map((row) => variables.map((variable) => conceptText(row.get(variable))));
      const text = rows.length === 0 ? '' : `${table([variables, ...rows])}\n`;
      return `${text}${counted(rows.length, 'row')}\n${warning}`;
    }
    case 'conceptDocuments':
    case 'other': {
      const text = answer.answers.map((document) => `${toJson(document, 2)}\n`).join('');
      return `${text}${counted(answer.answers.length, 'document')}\n${warning}`;
    }
    default:
      return answer satisfies never;
  }
}

/** The answer for programs. */
export function answerJson(answer: QueryAnswer): string {
  const answers =
    answer.answerType === 'ok'
      ? []
      : answer.answerType === 'conceptRows'
        ? answer.answers.map((row) => Object.fromEntries(row))
        : answer.answers;
  const { queryType, answerType, warning } = answer;
  return `${toJson({ queryType, answerType, warning, answers }, 2)}\n`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function conceptText(concept: Concept | undefined): string {
  if (concept === undefined) return '';
  if ('value' in concept) return valueText(concept.value);
  if ('label' in concept) return concept.label;
  if ('iid' in concept) return concept.type === undefined ? concept.iid : `${concept.type.label} ${concept.iid}`;
  return toJson(concept.concept);
}

/** The value on one line; a struct is shown as an object. */
function valueText(value: ConceptValue): string {
  return typeof value === 'object' && value !== null ? toJson(value) : String(value);
}
