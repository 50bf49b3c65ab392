import { bearerOf, type Incoming, json, Refusal, type Reply } from '../exchange/message.ts';
import { readBody } from '../exchange/shape.ts';
import { drawToken } from '../seeded-random.ts';
import { passwordIs } from './state.ts';
import type { ServerWorld } from './world.ts';

const SIGN_IN_SHAPE = {
  username: { type: 'string', required: true },
  password: { type: 'string', required: true },
} as const;

/**
 * Endpoints, Sign in: 200 with a token, 401 for wrong credentials. The check takes time, and a server makes one check
 * at a time (compatibility.md).
 */
export function signIn(server: ServerWorld, request: Incoming, now: number): Reply {
  const { state, world } = server;
  const { username, password } = readBody(request.body, request.headers, SIGN_IN_SHAPE);
  const check = (at: number): Reply => {
    const isAccepted = world.knobs.acceptsAnyPassword && state.users.has(username);
    if (!isAccepted && !passwordIs(state, username, password)) {
      throw new Refusal(401, 'invalidCredentials', 'Invalid credentials');
    }
    for (const [old, { expiresAtMs }] of state.tokens) if (expiresAtMs <= at) state.tokens.delete(old);
    const token = drawToken('server-', world.random);
    state.tokens.set(token, { username, expiresAtMs: at + world.knobs.serverTokenMs });
    return json(200, { token });
  };
  const costMs = world.knobs.passwordCheckMs;
  if (costMs === 0) return check(now);
  state.busyUntilMs = Math.max(now, state.busyUntilMs) + costMs;
  return { untilMs: state.busyUntilMs, resume: check };
}

/** The user of the token: 401 for an invalid or expired one (Authentication, 3); without any, the dialect decides. */
export function authenticate(server: ServerWorld, request: Incoming, now: number): string {
  const { state, world } = server;
  const bearer = bearerOf(request);
  if (bearer === undefined) {
    throw new Refusal(world.dialect.missingTokenStatus, 'missingToken', 'The Authorization header lacks a token');
  }
  const token = state.tokens.get(bearer);
  if (token === undefined || token.expiresAtMs <= now) {
    throw new Refusal(401, 'invalidToken', 'Invalid or expired token');
  }
  return token.username;
}
