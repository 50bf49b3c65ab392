import type { Random } from '../../base/random.ts';
import type { DialectRules } from '../dialect.ts';
import { type Answer, empty, type Incoming, json, plain, type Refusal } from './message.ts';
import type { Miss } from './router.ts';
import type { Api } from './subject.ts';

export interface RefusalContext {
  readonly api: Api;
  readonly dialect: DialectRules;
  readonly random: Random;
  readonly echoSecrets: boolean;
}

/** Errors: all error answers carry `{ code, message }`. In the field, servers send some of them as plain text. */
export function refusalAnswer(refusal: Refusal, request: Incoming, context: RefusalContext): Answer {
  const { dialect, api } = context;
  const message = context.echoSecrets ? `${refusal.message} (${echo(request)})` : refusal.message;
  if (api === 'server' && dialect.malformedErrors === 'plainText' && refusal.code === 'malformedRequest') {
    return plain(refusal.status, message);
  }
  return json(refusal.status, { code: codeOf(refusal, context), message, ...refusal.extra });
}

/** For requests that match no route: 404, or 405 with the allowed methods. */
export function missAnswer(miss: Miss, api: Api, dialect: DialectRules): Answer {
  const headers: Record<string, string> = miss.status === 405 ? { allow: miss.allow } : {};
  if (api === 'server' && dialect.routerErrors === 'missing') return { ...empty(miss.status), headers };
  const answer = json(
    miss.status,
    miss.status === 405
      ? { code: 'methodNotAllowed', message: `This path takes ${miss.allow} only` }
      : { code: 'pathNotFound', message: 'There is no such path' },
  );
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** "`code` values are not stable": nobody may depend on them. */
function codeOf(refusal: Refusal, { api, dialect, random }: RefusalContext): string {
  if (api === 'cloud' || dialect.codes === 'stable') return refusal.code;
  return `SRV${Math.floor(random.float() * 100)}`;
}

function echo(request: Incoming): string {
  return `authorization: ${request.headers['authorization'] ?? 'none'}, body: ${request.body}`;
}
