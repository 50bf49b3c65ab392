/** Whatever knows how the person reached the cluster. */
export interface Reached {
  /** From `reachOf`, for commands that are printed. Default: empty. */
  readonly reach?: string;
}

/**
 * The flags that a printed command repeats so that it reaches the same Kubernetes cluster, each with a space before it; empty: it
 * reaches it without.
 */
export function reachOf(flags: Readonly<Record<'kubeconfig' | 'context', string | undefined>>): string {
  return (['kubeconfig', 'context'] as const)
    .map((name) => (flags[name] === undefined ? '' : ` --${name} ${shellWord(flags[name])}`))
    .join('');
}

/** The text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
