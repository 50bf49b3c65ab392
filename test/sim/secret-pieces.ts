/**
 * What must not be found of a secret in anything that is shown: either half, as half of one that was blacked out in part tells enough,
 * and its base64 wherever it begins in what is encoded, without the letters that depend on what is around it.
 */
export function piecesOf(secret: string): readonly string[] {
  const middle = Math.ceil(secret.length / 2);
  const inBase64 = (before: string) => {
    const encoded = Buffer.from(`${before}${secret}`).toString('base64').replace(/=+$/, '');
    return encoded.slice(before === '' ? 0 : before.length + 1, -1);
  };
  return [secret.slice(0, middle), secret.slice(middle), ...['', 'a', 'ab'].map(inBase64)];
}
