/**
 * Yields the lines of a byte stream, without their ends. Splits bytes, not text, so a character cut in two by the network is whole again.
 * A last line without an end is dropped: the stream broke inside it.
 */
export async function* readLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const NEWLINE = 0x0a;
  let rest: Uint8Array[] = [];
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      rest.push(chunk.subarray(start, end));
      const line = Buffer.concat(rest).toString('utf8');
      rest = [];
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
}
