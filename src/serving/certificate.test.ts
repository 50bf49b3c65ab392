import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { FIRST, RENEWED, SECOND } from '../../test/support/certificates.ts';
import { virtualClock } from '../sandbox/virtual-clock.ts';
import { loadCertificateFiles } from './certificate.ts';
import { serve } from './http-server.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write({ cert, key }: { readonly cert?: string; readonly key?: string }) {
  if (cert !== undefined) writeFileSync(join(folder, 'tls.crt'), cert);
  if (key !== undefined) writeFileSync(join(folder, 'tls.key'), key);
}

async function load() {
  const clock = virtualClock();
  const told: string[] = [];
  const note = (_fields: object, message: string) => void told.push(message);
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const certificate = await loadCertificateFiles(files, clock, { info: note, warn: note });
  /** Lets a check of the files start, and its reading finish. */
  const look = async () => {
    const { length } = told;
    await clock.advance(10_000);
    while (clock.timers() === 0) await new Promise((resolve) => setImmediate(resolve));
    return told.slice(length);
  };
  return { certificate, clock, look };
}

test('loadCertificateFiles() reads a certificate and key that belong together, and says what is wrong with others', async () => {
  await expect(load()).rejects.toThrow(/tls\.(crt|key)/);
  write({ cert: FIRST.cert, key: SECOND.key });
  await expect(load()).rejects.toThrow(/tls\.crt and .*tls\.key are not a certificate and its key/);
  write(FIRST);
  expect((await load()).certificate.current).toEqual(FIRST);
});

test('a server uses a renewed certificate without a restart, and keeps the old one while the files do not match', async () => {
  write(FIRST);
  const { certificate, look, clock } = await load();
  const server = await serve('127.0.0.1:0', {}, { certificate });
  onTestFinished(() => server.close());
  expect(await nameAt(server.address)).toBe('first');

  write({ cert: SECOND.cert });
  expect(await look()).toEqual([expect.stringMatching(/^The old certificate stays: .*tls\.crt/)]);
  // Reported once.
  expect(await look()).toEqual([]);
  expect(await nameAt(server.address)).toBe('first');
  write({ key: SECOND.key });
  expect(await look()).toEqual(['The certificate was renewed']);
  expect(await nameAt(server.address)).toBe('second');
  expect(await look()).toEqual([]);
  for (const [pair, name] of [
    [FIRST, 'first'],
    [RENEWED, 'renewed'],
  ] as const) {
    write(pair);
    expect(await look()).toEqual(['The certificate was renewed']);
    expect(await nameAt(server.address)).toBe(name);
  }
  write(SECOND);
  await look();
  // The same mistake, later, is another one.
  write({ cert: FIRST.cert });
  expect(await look()).toEqual([expect.stringMatching(/^The old certificate stays: .*tls\.crt/)]);

  await server.close();
  expect(clock.timers()).toBe(0);
});

/** The name in the certificate that is served at the address. */
function nameAt(address: string): Promise<string | undefined> {
  const [host = '', port] = address.split(':');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      resolve(Array.isArray(CN) ? CN[0] : CN);
    });
    socket.once('error', reject);
  });
}
