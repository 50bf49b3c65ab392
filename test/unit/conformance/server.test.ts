import { registerChecks, registerNamedTarget } from '../../conformance/check.ts';
import { serverFromEnvironment } from '../../conformance/environment.ts';
import { SERVER_CHECKS } from '../../conformance/server-checks.ts';
import { simulatedServerInProcess, simulatedServerOverHTTP } from '../../conformance/simulated-server.ts';

for (const dialect of ['document', 'field'] as const) {
  registerChecks(simulatedServerInProcess(dialect), SERVER_CHECKS);
  registerChecks(simulatedServerOverHTTP(dialect), SERVER_CHECKS);
}

registerNamedTarget(serverFromEnvironment(process.env), 'MOORING_CONFORMANCE_SERVER_URL', SERVER_CHECKS);
