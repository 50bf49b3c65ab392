import type { Work } from './work.ts';

/* Whether the server has the database, as it says now. */

/** Makes one GET and, if it finds nothing, a fresh List, too: a proxy before the server may answer 404 to anything. */
export async function existsByGetOrList(work: Work): Promise<boolean> {
  const { world, access, name, signal } = work;
  return (await existsByGet(work)) || world.servers.listsDatabase(access, name, signal);
}

/** Makes one GET, and shares what it finds with the users of the List. */
export async function existsByGet({ world: { servers }, access, name, signal }: Work): Promise<boolean> {
  const found = await servers.asAdmin(access, (client, token) => client.getDatabase(token, name, signal), signal);
  servers.databaseChanged(access, name, found !== undefined);
  return found !== undefined;
}
