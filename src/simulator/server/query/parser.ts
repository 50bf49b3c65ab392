import { parseDefinitions, parseUndefinitions } from './parse-schema.ts';
import { parseStages } from './parse-stages.ts';
import type { Query } from './syntax.ts';
import { TokenStream } from './token-stream.ts';

/** Reads a whole query, or throws a SyntaxRefusal that says where it stops being understood. */
export function parseQuery(text: string): Query {
  const stream = new TokenStream(text);
  if (stream.accept('define')) return { kind: 'define', statements: parseDefinitions(stream) };
  if (stream.accept('redefine')) return { kind: 'redefine', statements: parseDefinitions(stream) };
  if (stream.accept('undefine')) return { kind: 'undefine', statements: parseUndefinitions(stream) };
  const given = parseGiven(stream);
  const stages = parseStages(stream, () => stream.peek().type === 'end');
  return { kind: 'pipeline', given, stages };
}

/** `given $name, $age;`: the variables that the request's rows bind. A type after a colon is read but not checked. */
function parseGiven(stream: TokenStream): readonly string[] {
  if (!stream.accept('given')) return [];
  const variables = stream.list(() => {
    const variable = stream.variable();
    if (stream.accept(':')) stream.word('a type');
    return variable;
  });
  stream.expect(';');
  return variables;
}
