import { registerChecks, registerNamedTarget } from '../../conformance/check.ts';
import { CLOUD_CHECKS } from '../../conformance/cloud-checks.ts';
import { cloudFromEnvironment } from '../../conformance/environment.ts';
import { simulatedCloudInProcess, simulatedCloudOverHTTP } from '../../conformance/simulated-cloud.ts';

for (const dialect of ['document', 'field'] as const) {
  registerChecks(simulatedCloudInProcess(dialect), CLOUD_CHECKS);
  registerChecks(simulatedCloudOverHTTP(dialect), CLOUD_CHECKS);
}

registerNamedTarget(cloudFromEnvironment(process.env), 'MOORING_CONFORMANCE_CLOUD_URL', CLOUD_CHECKS);
