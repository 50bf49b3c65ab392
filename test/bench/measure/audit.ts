interface AuditEvent {
  readonly stage?: string;
  readonly verb?: string;
  readonly requestURI?: string;
  readonly user?: { readonly username?: string };
  readonly objectRef?: { readonly resource?: string };
  readonly responseStatus?: { readonly code?: number };
}

/** One user's lists. A list in pages counts once, and so does a watch that begins with all objects. */
export interface Lists {
  /** Lists by kind. */
  readonly answered: ReadonlyMap<string, number>;
  /** Refused lists of all kinds, as while the API server starts (429, "storage is (re)initializing"). */
  readonly refused: number;
}

/** Returns this user's lists from the API server's audit log (a file of audit.k8s.io/v1 Events). */
export function listsIn(log: string, username: string): Lists {
  const answered = new Map<string, number>();
  let refused = 0;
  for (const line of log.split('\n')) {
    if (line === '') continue;
    const { stage, verb, requestURI = '', user, objectRef, responseStatus } = JSON.parse(line) as AuditEvent;
    if (user?.username !== username) continue;
    const { searchParams } = new URL(requestURI, 'http://localhost');
    const isList = verb === 'list' && stage === 'ResponseComplete' && !searchParams.has('continue');
    const isWatchList =
      verb === 'watch' && stage === 'ResponseStarted' && searchParams.get('sendInitialEvents') === 'true';
    if (!isList && !isWatchList) continue;
    const resource = objectRef?.resource ?? '';
    if (responseStatus?.code === 200) answered.set(resource, (answered.get(resource) ?? 0) + 1);
    else refused += 1;
  }
  return { answered, refused };
}
