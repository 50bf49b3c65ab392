import { Refusal } from './message.ts';

/** One endpoint of a document. `path` names its parameters with a colon: `/v1/users/:username`. */
export interface Route<Operation extends string> {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
}

export interface Match<R> {
  readonly route: R;
  /** Decoded once, following RFC 3986: `%2F` is a slash inside the name, not another segment. */
  readonly params: Readonly<Record<string, string>>;
}

/** Why the router itself refuses a request: nothing is at this path, or not with this method. */
export type Miss = { readonly status: 404 } | { readonly status: 405; readonly allow: string };

export type Router<R> = (method: string, path: string) => Match<R> | Miss;

export function createRouter<R extends Route<string>>(routes: readonly R[]): Router<R> {
  const compiled = routes.map((route) => ({ route, segments: route.path.split('/') }));
  return (method, path) => {
    const segments = path.split('/');
    const candidates = compiled.filter((candidate) => fits(candidate.segments, segments));
    const chosen = candidates.find((candidate) => candidate.route.method === method);
    if (chosen !== undefined) return { route: chosen.route, params: paramsOf(chosen.segments, segments) };
    if (candidates.length === 0) return { status: 404 };
    return { status: 405, allow: [...new Set(candidates.map((candidate) => candidate.route.method))].join(', ') };
  };
}

export const isMiss = <R>(match: Match<R> | Miss): match is Miss => 'status' in match;

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]));
}

function paramsOf(pattern: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  pattern.forEach((part, index) => {
    if (part.startsWith(':')) params[part.slice(1)] = decodeSegment(segments[index] ?? '');
  });
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal(400, 'malformedPath', 'A path segment is not valid percent-encoded UTF-8');
  }
}
