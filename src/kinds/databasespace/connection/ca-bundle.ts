import { X509Certificate } from 'node:crypto';
import { TerminalError } from '../../../base/errors.ts';
import type { DatabaseSpaceSpec } from '../schema.ts';

const BEGIN = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/g;
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]*-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/**
 * Returns the certificates of `caBundle` as PEM, without the text around them. Throws TerminalError if it holds none, or one that
 * cannot be read: TLS ignores those silently.
 */
export function caOf({ caBundle }: Pick<DatabaseSpaceSpec, 'caBundle'>): string | undefined {
  if (caBundle === undefined) return undefined;
  const text = Buffer.from(caBundle, 'base64').toString('utf8');
  const certificates = text.match(CERTIFICATE) ?? [];
  const begun = text.match(BEGIN) ?? [];
  const wanted = 'It must be base64 of one or more certificates as PEM, such as base64 --wrap=0 ca.crt prints';
  if (certificates.length === 0)
    throw new TerminalError('InvalidSpec', `spec.caBundle holds no certificate. ${wanted}`);
  for (const index of begun.keys()) {
    if (certificates.length !== begun.length || !isReadable(certificates[index] ?? ''))
      throw new TerminalError('InvalidSpec', `Certificate ${index + 1} in spec.caBundle cannot be read. ${wanted}`);
  }
  return certificates.join('\n');
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).subject !== undefined;
  } catch {
    return false;
  }
}
