/** The name that was probably meant by a word that is none of them; undefined if none is near enough. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(word.toLowerCase(), name.toLowerCase()) }))
    // If more than a third of a word is wrong, it is another word.
    .filter(({ name, distance }) => distance <= Math.max(word.length, name.length) / 3)
    .toSorted((one, other) => one.distance - other.distance);
  return best?.name;
}

/** ` Did you mean plan?`, or nothing. */
export function didYouMean(word: string, names: readonly string[], shown = (name: string) => name): string {
  const meant = nearest(word, names);
  return meant === undefined ? '' : ` Did you mean ${shown(meant)}?`;
}

/** The number of characters to insert, delete or replace, or of neighbours to swap. */
function distanceOf(one: string, other: string): number {
  let [before, last]: readonly (readonly number[])[] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let at = 1; at <= other.length; at++) {
      const isSame = one[row - 1] === other[at - 1];
      const isExchanged = row > 1 && at > 1 && one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      next[at] = Math.min(
        (last?.[at] ?? 0) + 1,
        (next[at - 1] ?? 0) + 1,
        (last?.[at - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isExchanged ? [(before?.[at - 2] ?? 0) + 1] : []),
      );
    }
    [before, last] = [last, next];
  }
  return last?.at(-1) ?? 0;
}
