import { z } from 'zod';
import type { KubeConnection, LoginHeaders } from './connection.ts';

/** A name that a header can hold: it ends with the line. */
const header = z.string().refine(isHeaderText, 'Invalid input: control characters, such as the end of a line');

/** Whom to act as: the fields of a kubeconfig's user, by their names there. */
export const impersonation = z.object({
  as: header.nullish(),
  'as-uid': header.nullish(),
  'as-groups': z.array(header).readonly().nullish(),
  'as-user-extra': z.record(z.string(), z.array(header).nullish()).nullish(),
});

export type Impersonation = z.infer<typeof impersonation>;

export function isHeaderText(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

/**
 * Returns the same connection, acting as these too: what they name comes before whom the connection already acts as. Rejects if that is
 * nobody: the API server would refuse each request.
 */
export async function actingAs(connection: KubeConnection, whom: Impersonation): Promise<KubeConnection> {
  const added = headersFor(whom);
  const authorize = async (renew: boolean) => withUser({ ...(await connection.authorize(renew)), ...added });
  await authorize(false);
  return { ...connection, authorize };
}

function withUser(headers: LoginHeaders): LoginHeaders {
  const isSomebody = Object.keys(headers).some((name) => name.startsWith('impersonate-'));
  if (isSomebody && headers['impersonate-user'] === undefined)
    throw new Error('There are groups, a uid or extra fields, but no user, to act as: name one with --as');
  return headers;
}

/** As transport.NewImpersonatingRoundTripper of client-go sends them. */
export function headersFor(whom: Impersonation): LoginHeaders {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = whom;
  const extras = Object.entries(extra ?? {}).flatMap(([key, values]) =>
    values?.length ? [[`impersonate-extra-${escaped(key)}`, values.map(utf8)] as const] : [],
  );
  return {
    ...(as ? { 'impersonate-user': utf8(as) } : {}),
    ...(uid ? { 'impersonate-uid': utf8(uid) } : {}),
    ...(groups?.length ? { 'impersonate-group': groups.map(utf8) } : {}),
    ...Object.fromEntries(extras),
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
