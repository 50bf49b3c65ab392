import { createHash, randomFillSync } from 'node:crypto';

/** Chance as a dependency: cryptographic in production, seeded in simulation. */
export interface Random {
  /** Uniform in [0, 1). For jitter, not for secrets. */
  float(): number;
  /** `count` unpredictable bytes. */
  bytes(count: number): Uint8Array;
}

/** How many bytes are drawn at once for small requests: drawing four takes nearly as long as thousands, and each pass needs some. */
const POOL_BYTES = 4096;
/** More bytes than this may become passwords or tokens. They are drawn when asked for, so that no future one is in memory. */
const SMALL_BYTES = 8;

export const systemRandom: Random = randomFrom(randomFillSync);

/** Chance whose bytes come from `fill`, which fills the array it is given. */
export function randomFrom(fill: (bytes: Uint8Array) => unknown): Random {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    float: () => Math.random(),
    bytes(count) {
      if (count > SMALL_BYTES) {
        const bytes = new Uint8Array(count);
        fill(bytes);
        return bytes;
      }
      if (used + count > POOL_BYTES) {
        fill(pool);
        used = 0;
      }
      used += count;
      return pool.slice(used - count, used);
    },
  };
}

/** No characters that a shell, a URL, YAML or a person reading aloud could mistake for something else. */
const PASSWORD_ALPHABET = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const PASSWORD_LENGTH = 32;

/**
 * A new password: 32 characters of a 57-character alphabet, 186 bits. Bytes that would favour some characters are thrown away.
 * Stays well within the 72 bytes that a server looks at (compatibility.md).
 */
export function generatePassword(random: Random): string {
  const limit = 256 - (256 % PASSWORD_ALPHABET.length);
  let password = '';
  while (password.length < PASSWORD_LENGTH) {
    for (const byte of random.bytes(PASSWORD_LENGTH)) {
      if (byte < limit && password.length < PASSWORD_LENGTH)
        password += PASSWORD_ALPHABET[byte % PASSWORD_ALPHABET.length];
    }
  }
  return password;
}

/** A random version 4 UUID. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  const hex = Array.from(bytes, (byte, index) => {
    const value = index === 6 ? (byte & 0x0f) | 0x40 : index === 8 ? (byte & 0x3f) | 0x80 : byte;
    return value.toString(16).padStart(2, '0');
  }).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A number in [0, 1): always the same for a text, and as good as random for different ones. */
export function fractionOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE() / 2 ** 32;
}
