/** Whatever knows how the person reached the cluster. */
export interface Reached {
  /** From `reachOf`, for commands that are printed. Default: empty. */
  readonly reach?: string;
}

/**
 * The flags that a printed command repeats so that it reaches the same Kubernetes cluster as the same user, each with a space before
 * it; empty: it does so without.
 */
export function reachOf(
  flags: Readonly<
    Partial<Record<'kubeconfig' | 'context' | 'as' | 'as-group', string | readonly string[] | undefined>>
  >,
): string {
  return Object.entries(flags)
    .flatMap(([name, given = []]) => [given].flat().map((value) => ` --${name} ${shellWord(value)}`))
    .join('');
}

/** The text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
