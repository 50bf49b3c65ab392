import type { Scenario } from './scenario.ts';
import { COPIES } from './scenarios/copies.ts';
import { DATABASES_OF_SERVERS } from './scenarios/databases.ts';
import { ENDINGS } from './scenarios/endings.ts';
import { LIFECYCLE } from './scenarios/lifecycle.ts';
import { LOGINS } from './scenarios/logins.ts';
import { NAMESPACES_APART } from './scenarios/namespaces.ts';
import { OTHERS } from './scenarios/others.ts';
import { REFUSALS } from './scenarios/refusals.ts';
import { RIVALS } from './scenarios/rivals.ts';
import { SEVERAL_SERVERS } from './scenarios/several-servers.ts';
import { OF_SPACES, SPACES_AT_ONCE } from './scenarios/spaces.ts';
import { USERS_OF_SERVERS } from './scenarios/users.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...LIFECYCLE,
  ...LOGINS,
  ...ENDINGS,
  ...OTHERS,
  ...USERS_OF_SERVERS,
  ...DATABASES_OF_SERVERS,
  ...RIVALS,
  ...OF_SPACES,
  ...SPACES_AT_ONCE,
  ...NAMESPACES_APART,
  ...COPIES,
  ...REFUSALS,
  ...SEVERAL_SERVERS,
];

/** Throws an Error that lists all scenarios if there is none of that name. */
export function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`There is no scenario "${name}". There are ${SCENARIOS.map((each) => each.name).join(', ')}`);
  return found;
}
