import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';

/** PEM, as TLS takes them. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A server's certificate and key in files that something such as cert-manager renews. */
export interface CertificateFiles {
  /** As last read. */
  readonly current: KeyPair;
  /** Calls `take` whenever the files hold another pair that fits together, until the signal aborts. */
  follow(take: (pair: KeyPair) => void, signal: AbortSignal): void;
}

const LOOK_MS = 10_000;

/** Reads the files. Throws if one is missing, or certificate and key do not belong together. */
export async function loadCertificateFiles(
  files: { readonly cert: string; readonly key: string },
  clock: Clock,
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void },
): Promise<CertificateFiles> {
  let current = await readPair(files);
  let complaint = '';
  return {
    get current() {
      return current;
    },
    follow(take, signal) {
      const look = async () => {
        try {
          const pair = await readPair(files);
          complaint = '';
          if (pair.cert === current.cert && pair.key === current.key) return;
          current = pair;
          take(pair);
          log.info({ file: files.cert }, 'The certificate was renewed');
        } catch (error) {
          // Between two writes they do not fit together: the old pair stays. Said once, not each time.
          if (messageOf(error) !== complaint)
            log.warn({ err: error }, `The old certificate stays: ${messageOf(error)}`);
          complaint = messageOf(error);
        }
      };
      let cancel = () => {};
      const again = () => {
        cancel = clock.after(LOOK_MS, () => void look().then(() => (signal.aborted ? undefined : again())));
      };
      again();
      signal.addEventListener('abort', () => cancel(), { once: true });
    },
  };
}

async function readPair(files: { readonly cert: string; readonly key: string }): Promise<KeyPair> {
  const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')]);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`${files.cert} and ${files.key} are not a certificate and its key: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { cert, key };
}
