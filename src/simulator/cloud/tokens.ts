import { type Answer, bearerOf, type Incoming, plain, Refusal } from '../exchange/message.ts';
import { malformed } from '../exchange/shape.ts';
import { drawToken } from '../seeded-random.ts';
import { type AccessToken, type ApiToken, LEVELS, type Level, type Team, type World } from './state.ts';

/** Token exchange: `Basic <CLIENT_ID>:<CLIENT_SECRET>`, id and secret unencoded (Endpoints, Token exchange). */
export function exchange(world: World, { headers }: Incoming, now: number): Answer {
  const match = /^Basic ([^:\s]+):(\S+)$/.exec(headers['authorization'] ?? '');
  if (match === null) {
    throw malformed('The Authorization header must read Basic <CLIENT_ID>:<CLIENT_SECRET>, not encoded in any way');
  }
  const [, clientID, clientSecret] = match;
  const found = findApiToken(world, clientID ?? '');
  if (found === undefined) throw new Refusal(400, 'invalidClientID', 'Invalid client id');
  if (found.apiToken.clientSecret !== clientSecret) {
    throw new Refusal(400, 'invalidClientSecret', 'Invalid client secret');
  }
  forgetExpired(world, now);
  const token = drawToken('access-', world.random);
  world.state.accessTokens.set(token, {
    teamID: found.team.id,
    apiToken: found.apiToken,
    expiresAtMs: now + world.knobs.accessTokenMs,
  });
  return plain(200, token);
}

/** Authenticates the caller: 400 (malformed) without a token, 401 with an invalid or expired one (Authentication, 4; Errors). */
export function authenticate(world: World, request: Incoming, now: number): AccessToken {
  const bearer = bearerOf(request);
  if (bearer === undefined) throw malformed('The Authorization header lacks a token');
  const token = world.state.accessTokens.get(bearer);
  if (token === undefined || token.expiresAtMs <= now) {
    throw new Refusal(401, 'invalidAccessToken', 'Invalid or expired access token');
  }
  return token;
}

/** 403 unless the token's level on exactly this space suffices (Authentication, Access level). */
export function authorize(world: World, token: AccessToken, teamID: string, spaceID: string, level: Level): void {
  const { apiToken } = token;
  const isForSpace = apiToken.spaceID === spaceID || apiToken.alsoFor?.includes(spaceID) === true;
  if (token.teamID !== teamID || !isForSpace) {
    throw new Refusal(403, 'accessDenied', 'The access token is for another space');
  }
  const suffices = world.knobs.levelsNest
    ? LEVELS.indexOf(apiToken.level) >= LEVELS.indexOf(level)
    : apiToken.level === level;
  if (!suffices) {
    throw new Refusal(403, 'accessDenied', `The access token has ${apiToken.level} access, ${level} is required`);
  }
}

function findApiToken(
  world: World,
  clientID: string,
): { readonly team: Team; readonly apiToken: ApiToken } | undefined {
  for (const team of world.state.teams.values()) {
    const apiToken = team.apiTokens.find((candidate) => candidate.clientID === clientID);
    if (apiToken !== undefined) return { team, apiToken };
  }
  return undefined;
}

function forgetExpired(world: World, now: number): void {
  for (const [token, { expiresAtMs }] of world.state.accessTokens) {
    if (expiresAtMs <= now) world.state.accessTokens.delete(token);
  }
}
