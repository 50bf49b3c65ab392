import { readFileSync } from 'node:fs';
import { auditFile } from '../../tools/control-plane/components.ts';

/** A request of a service account, as the API server wrote it down. */
export interface AuditedRequest {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** With the subresource: `databasespaces/status`. */
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

/** What the operators of service accounts with this prefix have asked for. */
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
