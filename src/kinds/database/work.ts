import type { OpenServer } from '../server/access.ts';
import type { DatabaseSubject } from './observation.ts';
import type { DatabaseWorld } from './world.ts';

/** What a look or a step works with, once the server can be worked on. */
export interface Work {
  readonly world: DatabaseWorld;
  readonly subject: DatabaseSubject;
  readonly access: OpenServer;
  /** The database's name. */
  readonly name: string;
  readonly signal: AbortSignal;
}
