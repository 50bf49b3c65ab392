import { databaseSpaceDefinition } from '../../../src/kinds/databasespace/schema.ts';
import { FakeKube } from '../../../src/sandbox/fake-kube.ts';
import { virtualClock } from '../../../src/sandbox/virtual-clock.ts';
import { createSeededRandom } from '../../../src/simulator/seeded-random.ts';
import { kubeApiContract } from '../../contract/kube-api.ts';
import { statusSchemaOf } from '../../support/status-schema.ts';

let namespaces = 0;

kubeApiContract(async () => {
  const statusDefaults = { databasespaces: { observedGeneration: -1 } };
  const statusSchemas = { databasespaces: statusSchemaOf(databaseSpaceDefinition) };
  const api = new FakeKube({ now: virtualClock().now, random: createSeededRandom(1), statusDefaults, statusSchemas });
  // As on a server that has run for a while, its beginning is forgotten.
  await api.create({ group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' }, 'default', {
    metadata: { name: 'old' },
  });
  api.compact();
  return {
    api,
    makeNamespace: async () => `contract-${namespaces++}`,
    terminateNamespace: async (namespace) => api.terminate(namespace),
  };
});
