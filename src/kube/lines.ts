import { HttpError } from '../base/transport.ts';

/** As in client-go's decoder of watches: no object is as large. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Yields the lines of a byte stream, without their ends. Splits bytes, not text, so a character cut in two by the network is whole again.
 * A last line without an end is dropped: the stream broke inside it. Fails with `tooLarge` once a line cannot be one of an API server.
 */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const NEWLINE = 0x0a;
  let rest: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(rest).toString('utf8');
      rest = [];
      size = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > MAX_LINE_BYTES) throw new HttpError('tooLarge', `An event is larger than ${MAX_LINE_BYTES} bytes`);
  }
}
