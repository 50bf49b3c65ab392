import type { Check } from './check.ts';
import { accessChecks } from './cloud/access.ts';
import { deployChecks } from './cloud/deploy.ts';
import { cloudFaultChecks } from './cloud/faults.ts';
import { lifecycleChecks } from './cloud/lifecycle.ts';
import { tokenExchangeChecks } from './cloud/token-exchange.ts';
import type { CloudSetting } from './cloud-setting.ts';

/** Everything that the Cluster Management API document says and that can be tried. */
export const CLOUD_CHECKS: readonly Check<CloudSetting>[] = [
  ...tokenExchangeChecks,
  ...accessChecks,
  ...deployChecks,
  ...lifecycleChecks,
  ...cloudFaultChecks,
];
