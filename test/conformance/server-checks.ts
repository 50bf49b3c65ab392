import type { Check } from './check.ts';
import { serverAccessChecks } from './server/access.ts';
import { databaseChecks } from './server/databases.ts';
import { serverFaultChecks } from './server/faults.ts';
import { lifeChecks } from './server/lives.ts';
import { queryChecks } from './server/queries.ts';
import { signInChecks } from './server/sign-in.ts';
import { transactionChecks } from './server/transactions.ts';
import { userChecks } from './server/users.ts';
import type { ServerSetting } from './server-setting.ts';

/** Everything that the Database Server HTTP API document says and that can be tried. */
export const SERVER_CHECKS: readonly Check<ServerSetting>[] = [
  ...signInChecks,
  ...serverAccessChecks,
  ...databaseChecks,
  ...userChecks,
  ...transactionChecks,
  ...queryChecks,
  ...lifeChecks,
  ...serverFaultChecks,
];
