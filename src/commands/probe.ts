import { messageOf } from '../base/errors.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import type { Command } from './command.ts';

const USAGE =
  'mooring probe URL requests the URL once, such as http://mooring.mooring-system.svc:8081/readyz.\nExit code 0 means healthy.\n';
const TIMEOUT_MS = 10_000;
/** A probe's answer is one line. */
const SHOWN = 1_000;

/** `mooring probe URL`: says whether an operator answers there with 200, for images without a shell. */
export const probe: Command = async (argv, io) => {
  const [url = ''] = argv;
  if (url === '--help' || url === '-h') {
    io.stdout(USAGE);
    return 0;
  }
  if (argv.length !== 1 || !URL.canParse(url)) {
    io.stderr(USAGE);
    return 2;
  }
  const transport = createUndiciTransport({});
  try {
    const timeouts = { headersMs: TIMEOUT_MS, bodyMs: TIMEOUT_MS, totalMs: TIMEOUT_MS };
    const { status, body } = await transport({ method: 'GET', url, timeouts, signal: io.signal });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8').slice(0, SHOWN).trim();
    (status === 200 ? io.stdout : io.stderr)(`${status} ${text}\n`);
    return status === 200 ? 0 : 1;
  } catch (error) {
    io.stderr(`${url} does not answer: ${messageOf(error)}\n`);
    return 1;
  } finally {
    await transport.close();
  }
};
