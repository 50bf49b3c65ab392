import type { z } from 'zod';
import { toJson } from '../base/to-json.ts';
import type { Operation } from './api-call.ts';
import { ApiError } from './api-error.ts';

/** Returns the request as JSON. Throws ApiError `invalid` that names the first field that breaks a rule of the document. */
export function requestBody(
  api: ApiError['api'],
  operation: Operation,
  schema: z.ZodType,
  request: unknown,
  secrets: readonly string[] = [],
): string {
  const result = schema.safeParse(request);
  if (result.success) return toJson(result.data);
  const issue = result.error.issues[0];
  const field = (issue?.path ?? []).map(String).join('.');
  throw new ApiError({
    api,
    operation: operation.name,
    phrase: operation.phrase,
    idempotent: operation.idempotent,
    kind: 'invalid',
    what: `not sent, because ${field === '' ? 'the request' : field} is invalid`,
    detail: issue?.message,
    secrets,
  });
}
