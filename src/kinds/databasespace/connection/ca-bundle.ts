import { X509Certificate } from 'node:crypto';
import { TerminalError } from '../../../base/errors.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';

/** Where each certificate begins. */
const BEGIN = /(?=-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----)/;
const CERTIFICATE = /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/;

const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/;

/**
 * Returns the certificates of `caBundle` as PEM, without the text around them. Throws TerminalError if it holds none, or one that
 * cannot be read: TLS ignores those silently. Also if it holds a private key, as nobody would notice.
 */
export function caOf({ caBundle }: Pick<DatabaseSpaceSpec, 'caBundle'>): string | undefined {
  if (caBundle === undefined) return undefined;
  const text = Buffer.from(caBundle, 'base64').toString('utf8');
  if (PRIVATE_KEY.test(text)) {
    const why = 'which everybody who may read the DatabaseSpace can see';
    const remedy = 'Take it out, and put another key in its place wherever it is used';
    throw new TerminalError('InvalidSpec', `spec.caBundle holds a private key, ${why}. ${remedy}`);
  }
  const begun = text.split(BEGIN).filter((part) => BEGIN.test(part));
  const wanted = 'It must be base64 of one or more certificates as PEM, such as base64 --wrap=0 ca.crt prints';
  if (begun.length === 0) throw new TerminalError('InvalidSpec', `spec.caBundle holds no certificate. ${wanted}`);
  const certificates = begun.map((part, index) => {
    const [certificate = ''] = CERTIFICATE.exec(part) ?? [];
    if (isReadable(certificate)) return certificate;
    throw new TerminalError('InvalidSpec', `Certificate ${index + 1} in spec.caBundle cannot be read. ${wanted}`);
  });
  return certificates.join('\n');
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}
