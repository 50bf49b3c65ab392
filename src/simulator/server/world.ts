import type { World } from '../cloud/state.ts';
import { Refusal } from '../exchange/message.ts';
import type { ServerState } from './state.ts';

/** One database server as a request sees it. */
export interface ServerWorld {
  readonly world: World;
  readonly state: ServerState;
  readonly version: string;
  /** The server asked, and the first server of its cluster. */
  readonly address: string;
  readonly primaryAddress: string;
  /** Must be called after every change that a state file should keep. */
  changed(): void;
}

/** Changes go to the first of several servers (compatibility.md: "421 with `primaryAddress`"). */
export function requirePrimary(server: ServerWorld): void {
  if (server.address === server.primaryAddress || server.world.dialect.secondaryServers === 'serve') return;
  throw new Refusal(421, 'notPrimary', 'This server is not the primary', { primaryAddress: server.primaryAddress });
}

/** "Names are Unicode identifiers with `-`" (compatibility.md). */
const NAME_PATTERN = /^[\p{XID_Start}_][\p{XID_Continue}-]*$/u;

export function requireName(what: string, name: string): void {
  if (!NAME_PATTERN.test(name)) {
    throw new Refusal(400, 'invalidName', `${JSON.stringify(name)} is not a valid ${what} name`);
  }
}
