import { Recent } from '../base/collections/recent.ts';
import { oneLine } from '../base/printable.ts';

/* The API server's Warning headers (RFC 7234, 5.5): what kubectl shows as `Warning: …`, such as that of an admission policy. */

/** Code, agent and quoted text; a date may follow. */
const WARNING = /(?<code>\d{3}) \S+ "(?<text>(?:[^"\\]|\\.)*)"/g;
/** The code of all that Kubernetes sends. Others are a cache's. */
const MISCELLANEOUS = '299';
/** Texts may name objects, so there may be many. */
const REMEMBERED = 1_000;

/** A warning, and what it answers. */
export interface Warning {
  readonly verb: string;
  /** Plural. */
  readonly resource: string;
  /** On one line, without secrets. */
  readonly text: string;
}

/** Returns the texts, each on one line; none if there is no such header, or it is none of Kubernetes. */
export function warningsIn(header: string | undefined): readonly string[] {
  return [...(header ?? '').matchAll(WARNING)].flatMap(({ groups }) =>
    groups?.['code'] === MISCELLANEOUS ? oneLine((groups['text'] ?? '').replace(/\\(.)/g, '$1')) : [],
  );
}

/** Returns a function that calls `tell` for each warning with a new text, and not again for the last thousand of them. */
export function eachOnce(tell: (warning: Warning) => void): (warning: Warning) => void {
  const told = new Recent<string, true>(REMEMBERED);
  return (warning) => {
    if (told.peek(warning.text) === undefined) tell(warning);
    told.set(warning.text, true);
  };
}
