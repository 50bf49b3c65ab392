import { type Answer, empty, type Incoming, json, Refusal } from '../exchange/message.ts';
import { readBody } from '../exchange/shape.ts';
import { setPassword, type User } from './state.ts';
import { closeTransactionsOf } from './transactions.ts';
import { requireName, requirePrimary, type ServerWorld } from './world.ts';

const PASSWORD_SHAPE = { password: { type: 'string', required: true } } as const;

/** Get users. "Only the default user may manage others" (compatibility.md). */
export function listUsers(server: ServerWorld, caller: string): Answer {
  requireDefaultUser(server, caller);
  return json(200, { users: [...server.state.users.keys()].map((username) => ({ username })) });
}

export function getUser(server: ServerWorld, caller: string, username: string): Answer {
  if (username !== caller) requireDefaultUser(server, caller);
  return json(200, { username: userNamed(server, username).username });
}

export function createUser(server: ServerWorld, caller: string, username: string, request: Incoming): Answer {
  const { password } = readBody(request.body, request.headers, PASSWORD_SHAPE);
  requireDefaultUser(server, caller);
  requirePrimary(server);
  requireName('user', username);
  if (server.state.users.has(username)) throw new Refusal(400, 'userExists', `User ${username} already exists`);
  setPassword(server.state, username, password);
  server.changed();
  return empty(200);
}

/** "Updating a user, even to the same password, kills all that user's tokens and open transactions" (compatibility.md). */
export function updateUser(server: ServerWorld, caller: string, username: string, request: Incoming): Answer {
  const { password } = readBody(request.body, request.headers, PASSWORD_SHAPE);
  if (username !== caller) requireDefaultUser(server, caller);
  requirePrimary(server);
  userNamed(server, username);
  setPassword(server.state, username, password);
  if (server.world.knobs.userUpdateEndsTokens) endSessions(server, username);
  server.changed();
  return empty(200);
}

/** "It [the default user] cannot be deleted" (compatibility.md). */
export function deleteUser(server: ServerWorld, caller: string, username: string): Answer {
  requireDefaultUser(server, caller);
  requirePrimary(server);
  userNamed(server, username);
  if (username === server.state.defaultUser) {
    throw new Refusal(400, 'defaultUser', 'The default user cannot be deleted');
  }
  server.state.users.delete(username);
  endSessions(server, username);
  server.changed();
  return empty(200);
}

export function endSessions({ state }: Pick<ServerWorld, 'state'>, username: string): void {
  for (const [token, owner] of state.tokens) if (owner.username === username) state.tokens.delete(token);
  closeTransactionsOf(state, username);
}

function userNamed(server: ServerWorld, username: string): User {
  const user = server.state.users.get(username);
  if (user === undefined) throw new Refusal(404, 'userNotFound', `There is no user ${JSON.stringify(username)}`);
  return user;
}

function requireDefaultUser(server: ServerWorld, caller: string): void {
  if (caller === server.state.defaultUser) return;
  throw new Refusal(403, 'accessDenied', `User ${caller} may not manage other users`);
}
