import { Refusal } from '../../exchange/message.ts';

/** Tells the person who wrote the query what is understood. */
const UNDERSTOOD =
  'The simulator understands define, undefine and redefine, and pipelines of given, match, insert, update, delete, ' +
  'select, distinct, sort, offset, limit, reduce and fetch, as far as docs/simulator.md says';

/** The query is not one that the simulator understands; it did nothing. */
export class SyntaxRefusal extends Refusal {
  constructor(message: string) {
    super(400, 'syntax', `${message}. ${UNDERSTOOD}.`);
  }
}

/** The query is understood, but the schema or the data forbid what it asks for. */
export function impossible(message: string): Refusal {
  return new Refusal(400, 'query', message);
}
