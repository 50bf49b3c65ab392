/** Characters that some server or proxy on the way takes for the end of a segment, encoded or not. */
const UNSAFE_IN_SEGMENT = /[/\\%\p{Cc}]/u;

/**
 * Why a name cannot be a path segment, or `undefined` if it can. `.` and `..` are normalised away by URL parsers even when
 * they are encoded, and encoded slashes are decoded by many servers: such names would reach another resource.
 */
export function segmentProblem(name: string): string | undefined {
  const problem = givenSegmentProblem(name);
  if (problem !== undefined) return problem;
  if (UNSAFE_IN_SEGMENT.test(name)) return 'the name holds a slash, a backslash, a percent sign or a control character';
  return undefined;
}

/**
 * As `segmentProblem`, of what the other side itself gave and takes back only as it is: there is no other name to choose, and it
 * knows what its paths hold. Only what no encoding keeps one segment cannot be sent.
 */
export function givenSegmentProblem(id: string): string | undefined {
  if (id === '') return 'the name is empty';
  if (id === '.' || id === '..') return `the name ${id} has a meaning of its own in paths`;
  if (!id.isWellFormed()) return 'the name is no valid Unicode';
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

/** The URL of the path made of `segments` (unencoded, each without a problem) below `baseURL`. */
export function joinURL(baseURL: string, segments: readonly string[]): string {
  const base = new URL(baseURL).href.replace(/\/+$/, '');
  return [base, ...segments.map(encodeURIComponent)].join('/');
}
