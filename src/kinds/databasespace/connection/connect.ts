import { TerminalError, TransientError } from '../../../base/errors.ts';
import { isManaged, loginFrom } from '../../secrets.ts';
import { type NotConnected, type SpaceSubject, secretNames } from '../observation.ts';
import type { SpaceWorld } from '../world.ts';
import type { SpaceConnection } from './connection.ts';
import { credentialsFrom, severalMissing } from './credentials.ts';

/** Returns the connection. Makes it first if that was not done, or the spec or a Secret has changed since. */
export async function connected(
  world: SpaceWorld,
  subject: SpaceSubject,
  signal: AbortSignal,
): Promise<SpaceConnection | NotConnected> {
  const { key, metadata, spec } = subject;
  const namespace = metadata.namespace ?? '';
  const names = secretNames(spec);
  const state = JSON.stringify([
    metadata.uid,
    metadata.generation,
    names.map((name) => world.secrets.version(namespace, name)),
  ]);
  const known = world.connections.get(key);
  if (known !== undefined && world.connectedWith.get(key) === state) return known;

  const contents = new Map(
    await Promise.all(names.map(async (name) => [name, await world.secrets.read(namespace, name, signal)] as const)),
  );
  const credentials = orWhy(() => {
    try {
      return credentialsFrom(spec, contents, namespace);
    } catch (error) {
      throw error instanceof TransientError ? (severalMissing(spec, contents, namespace) ?? error) : error;
    }
  }, true);
  const outcome = orWhy(() => {
    const ref = spec.defaultCredentialsSecretRef;
    const factory = contents.get(ref.name);
    const login = loginFrom(factory, ref, namespace);
    if (factory !== undefined && isManaged(factory)) throw mistaken(ref.name);
    const version = factory?.resourceVersion ?? '';
    if (!('why' in credentials)) world.connections.connect(key, spec, credentials, login, version);
    // Logins are verified without the cloud, so connect without tokens. What was connected before goes on as it was.
    else if (!world.connectedWith.has(key)) world.connections.connect(key, spec, [], login, version);
    return {};
  }, false);
  if ('why' in credentials) return credentials;
  if ('why' in outcome) return outcome;
  const isFirst = !world.connectedWith.has(key);
  world.connectedWith.set(key, state);
  const connection = world.connections.get(key);
  if (connection === undefined) throw new Error(`Space ${key} is not connected after connecting it`);
  // Whatever has changed, somebody may have done it to have a token tried that the cloud accepts by now.
  if (!isFirst) connection.client.forgetRefusals(DOUBTED_MS);
  return connection;
}

/**
 * How old a refusal must be to be doubted because something was written: others that share the Secret may have been refused since, and
 * a finalizer of ours is a write, too. A cloud that is asked too often may lock the token out.
 */
const DOUBTED_MS = 10_000;

function orWhy<T extends object>(work: () => T, lacksToken: boolean): T | NotConnected {
  try {
    return work();
  } catch (error) {
    if (error instanceof TransientError || error instanceof TerminalError) return { why: error, lacksToken };
    throw error;
  }
}

/** Each rotation would change what counts as the login that new clusters come with, and so call for the next one. */
function mistaken(name: string): TerminalError {
  return new TerminalError(
    'DefaultLoginMistaken',
    `Secret "${name}" holds a login that Mooring looks after, not the one that new clusters come with: name a Secret with that one in defaultCredentialsSecretRef`,
  );
}
