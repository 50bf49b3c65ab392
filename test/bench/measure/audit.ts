interface AuditEvent {
  readonly stage?: string;
  readonly verb?: string;
  readonly requestURI?: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string };
}

/**
 * How often this user listed each kind, from the API server's audit log (a file of audit.k8s.io/v1 Events). A list that
 * comes in pages is one, and so is a watch that begins with all there is.
 */
export function listsIn(log: string, username: string): Map<string, number> {
  const lists = new Map<string, number>();
  for (const line of log.split('\n')) {
    if (line === '') continue;
    const { stage, verb, requestURI = '', user, objectRef } = JSON.parse(line) as AuditEvent;
    if (user?.username !== username) continue;
    const { searchParams } = new URL(requestURI, 'http://localhost');
    const isList = verb === 'list' && stage === 'ResponseComplete' && !searchParams.has('continue');
    const isWatchList =
      verb === 'watch' && stage === 'ResponseStarted' && searchParams.get('sendInitialEvents') === 'true';
    const resource = objectRef?.resource ?? '';
    if (isList || isWatchList) lists.set(resource, (lists.get(resource) ?? 0) + 1);
  }
  return lists;
}
