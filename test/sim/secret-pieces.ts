const SHORT = 20;

/**
 * What must not be found of a secret in anything that is shown: either half, as half of one that was blacked out in part tells enough,
 * and its base64 wherever it begins in what is encoded, without the letters that depend on what is around it. Half of a short one may
 * be an ordinary word.
 */
export function piecesOf(secret: string): readonly string[] {
  const middle = Math.ceil(secret.length / 2);
  const inBase64 = (before: string) => {
    const encoded = Buffer.from(`${before}${secret}`).toString('base64').replace(/=+$/, '');
    return encoded.slice(before === '' ? 0 : before.length + 1, -1);
  };
  const parts = secret.length < SHORT ? [secret] : [secret.slice(0, middle), secret.slice(middle)];
  return [...parts, ...['', 'a', 'ab'].map(inBase64)];
}
