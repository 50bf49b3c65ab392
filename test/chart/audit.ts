import { readFileSync } from 'node:fs';
import { auditFile } from '../../tools/control-plane/components.ts';

/** A request of a service account, from the API server's audit log. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** Includes the subresource: `databasespaces/status`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly code: number;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** Returns the requests of operators whose service accounts have this prefix. */
export function auditedRequests(directory: string, prefix: string): readonly AuditedRequest[] {
  const lines = readFileSync(auditFile(directory), 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user, objectRef }) => objectRef !== undefined && user.username.startsWith(prefix))
    .map(({ user, verb, objectRef, responseStatus }) => ({
      user: user.username,
      verb,
      group: objectRef?.apiGroup ?? '',
      resource: [objectRef?.resource, objectRef?.subresource].filter((word) => word !== undefined).join('/'),
      namespace: objectRef?.namespace,
      code: responseStatus?.code ?? 0,
    }));
}
