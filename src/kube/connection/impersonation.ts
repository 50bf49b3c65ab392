import { z } from 'zod';
import type { KubeConnection, LoginHeaders } from './connection.ts';

/** Whom to act as: the fields of a kubeconfig's user, by their names there. */
export const impersonation = z.object({
  as: z.string().nullish(),
  'as-uid': z.string().nullish(),
  'as-groups': z.array(z.string()).readonly().nullish(),
  'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
});

export type Impersonation = z.infer<typeof impersonation>;

/** Returns the same connection for somebody else. Throws if that is nobody: the API server would refuse each request. */
export function actingAs(connection: KubeConnection, whom: Impersonation): KubeConnection {
  const added = headersFor(whom);
  if (Object.keys(added).length === 0) return connection;
  if (added['impersonate-user'] === undefined)
    throw new Error('There are groups, a uid or extra fields, but no user, to act as: name one with --as');
  return { ...connection, authorize: async (renew) => ({ ...(await connection.authorize(renew)), ...added }) };
}

/** As transport.NewImpersonatingRoundTripper of client-go sends them. */
function headersFor(whom: Impersonation): LoginHeaders {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = whom;
  return {
    ...(as ? { 'impersonate-user': utf8(as) } : {}),
    ...(uid ? { 'impersonate-uid': utf8(uid) } : {}),
    ...(groups?.length ? { 'impersonate-group': groups.map(utf8) } : {}),
    ...Object.fromEntries(
      Object.entries(extra ?? {}).map(([key, values]) => [`impersonate-extra-${escaped(key)}`, values.map(utf8)]),
    ),
  };
}

/** A header's characters are sent as one byte each, and the API server reads a name as UTF-8: another one would be somebody else. */
function utf8(name: string): string {
  return Buffer.from(name).toString('latin1');
}

/** As a header's name, in which brackets may not stand either. */
function escaped(key: string): string {
  return encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29');
}
