/** Characters that some server or proxy on the way takes for the end of a segment, encoded or not. */
const UNSAFE_IN_SEGMENT = /[/\\%\p{Cc}]/u;

/**
 * Why a name cannot be a path segment, or `undefined` if it can. `.` and `..` are normalised away by URL parsers even when
 * they are encoded, and encoded slashes are decoded by many servers: such names would reach another resource.
 */
export function segmentProblem(name: string): string | undefined {
  if (name === '') return 'the name is empty';
  if (name === '.' || name === '..') return `the name ${name} has a meaning of its own in paths`;
  if (!name.isWellFormed()) return 'the name is no valid Unicode';
  if (UNSAFE_IN_SEGMENT.test(name)) return 'the name holds a slash, a backslash, a percent sign or a control character';
  return undefined;
}

/** Why a text cannot be a base URL, or `undefined` if it can. */
export function baseURLProblem(baseURL: string): string | undefined {
  const url = URL.parse(baseURL);
  if (url === null) return 'the base URL is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the base URL is neither https nor http';
  if (url.username !== '' || url.password !== '') return 'the base URL holds a login';
  if (baseURL.includes('?') || baseURL.includes('#')) return 'the base URL holds a query or a fragment';
  return undefined;
}

/** The URL of the path made of `segments` (unencoded, each without a `segmentProblem`) below `baseURL`. */
export function joinURL(baseURL: string, segments: readonly string[]): string {
  const base = new URL(baseURL).href.replace(/\/+$/, '');
  return [base, ...segments.map(encodeURIComponent)].join('/');
}
