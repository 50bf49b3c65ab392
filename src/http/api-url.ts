/** Characters that some server or proxy on the way may treat as the end of a segment, encoded or not. */
const UNSAFE_IN_SEGMENT = /[/\\%\p{Cc}]/u;

/**
 * Says why a name cannot be a path segment; `undefined` if it can. URL parsers normalise `.` and `..` away even when encoded, and
 * many servers decode encoded slashes: such names would reach another resource.
 */
export function segmentProblem(name: string): string | undefined {
  const problem = givenSegmentProblem(name);
  if (problem !== undefined) return problem;
  if (UNSAFE_IN_SEGMENT.test(name)) return 'the name holds a slash, a backslash, a percent sign or a control character';
  return undefined;
}

/**
 * As `segmentProblem`, for a name that the other side gave and takes back only as it is: there is no other to choose, and it
 * knows what its paths hold. Only names that no encoding keeps in one segment are refused.
 */
export function givenSegmentProblem(id: string): string | undefined {
  if (id === '') return 'the name is empty';
  if (id === '.' || id === '..') return `the name ${id} has a special meaning in paths`;
  if (!id.isWellFormed()) return 'the name is not valid Unicode';
  return undefined;
}

/** Says why a text cannot be a base URL; `undefined` if it can. */
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
