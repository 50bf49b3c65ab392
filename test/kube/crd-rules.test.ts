import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/base/group.ts';
import { machineTypes } from '../../src/kinds/databasecluster/offerings.ts';
import { definitions } from '../../src/kinds/definitions.ts';
import { fieldsOf, resourceSchema } from '../../src/kube/crd/crd.ts';
import type { ControlPlane } from '../../tools/control-plane/control-plane.ts';
import { startControlPlane } from '../../tools/control-plane/start.ts';
import { type Api, type ApiAnswer, collectionPath, createNamespace, installCrds, openApi } from './api.ts';
import { REJECTIONS as OTHERS, type Rejection, VALID } from './samples.ts';
import { SERVER_REJECTIONS } from './server-samples.ts';

let controlPlane: ControlPlane;
let api: Api;
let namespace: string;

beforeAll(async () => {
  controlPlane = await startControlPlane();
  api = await openApi(controlPlane.kubeconfig);
  await installCrds(api);
  namespace = await createNamespace(api);
}, 600_000);

afterAll(async () => {
  await api?.send('DELETE', `/api/v1/namespaces/${namespace}`);
  await api?.close();
  await controlPlane?.stop();
});

type Kind = keyof typeof VALID;

const REJECTIONS = [...OTHERS, ...SERVER_REJECTIONS];

function anObject(kind: Kind, spec: Readonly<Record<string, unknown>>, name?: string) {
  const metadata = name === undefined ? { generateName: 'sample-' } : { name };
  return { apiVersion: API_VERSION, kind, metadata, spec: { ...VALID[kind], ...spec } };
}

function tryToCreate(kind: Kind, spec: Readonly<Record<string, unknown>>, name?: string): Promise<ApiAnswer> {
  return api.send('POST', `${collectionPath(kind, namespace)}?dryRun=All`, anObject(kind, spec, name));
}

/** Updates an object that was created as `before`, after the operator has written `status`. */
async function tryToUpdate({
  kind,
  before = {},
  status,
  spec,
  name,
}: Omit<Rejection, 'rule' | 'says'>): Promise<ApiAnswer> {
  const created = await api.send('POST', collectionPath(kind, namespace), anObject(kind, before, name));
  expect(created.causes).toEqual([]);
  let object = created.body as { metadata: { name: string } };
  const path = `${collectionPath(kind, namespace)}/${object.metadata.name}`;
  if (status !== undefined) {
    const written = await api.send('PUT', `${path}/status`, { ...object, status });
    expect(written.causes).toEqual([]);
    object = written.body as typeof object;
  }
  return api.send('PUT', `${path}?dryRun=All`, { ...object, spec: { ...VALID[kind], ...spec } });
}

describe('the API server refuses', () => {
  test.each(REJECTIONS.map((rejection) => [rejection.says, rejection] as const))('%s', async (says, rejection) => {
    const { kind, spec, name, before } = rejection;
    const answer = before === undefined ? await tryToCreate(kind, spec, name) : await tryToUpdate(rejection);
    expect({ status: answer.status, causes: answer.causes }).toEqual({ status: 422, causes: [says] });
  });

  test('every CEL rule has a rejected sample, and every sample a rule', () => {
    const rules = definitions.flatMap((definition) => {
      const schema = resourceSchema(definition);
      const all = fieldsOf(schema, '');
      const items = all.flatMap((field) =>
        field.schema.items === undefined ? [] : [{ path: `${field.path}[]`, schema: field.schema.items }],
      );
      return [...all, ...items].flatMap((field) =>
        (field.schema['x-kubernetes-validations'] ?? []).map((rule) => ({
          kind: definition.kind,
          text: `${field.path}${rule.fieldPath ?? ''}: ${rule.message}`.replace(/^\./, ''),
        })),
      );
    });
    const isSampleOf = (rule: (typeof rules)[number]) => (sample: Rejection) =>
      sample.kind === rule.kind && rule.text.startsWith(sample.rule);
    expect(rules.filter((rule) => !REJECTIONS.some(isSampleOf(rule)))).toEqual([]);
    expect(REJECTIONS.filter((sample) => !rules.some((rule) => isSampleOf(rule)(sample)))).toEqual([]);
  });

  test.each<[Kind, Readonly<Record<string, unknown>>, string]>([
    ['DatabaseCluster', { storageSizeGB: 9 }, 'spec.storageSizeGB: Invalid value: 9: '],
    ['DatabaseCluster', { storageSizeGB: 1001 }, 'spec.storageSizeGB: Invalid value: 1001: '],
    ['DatabaseCluster', { storageSizeGB: 10.5 }, 'spec.storageSizeGB: Invalid value: '],
    ['DatabaseCluster', { serverCount: 0 }, 'spec.serverCount: Invalid value: 0: '],
    ['DatabaseCluster', { serverCount: 11 }, 'spec.serverCount: Invalid value: 11: '],
    ['DatabaseCluster', { spaceRef: {} }, 'spec.spaceRef.name: Required value'],
    ['DatabaseCluster', { spaceRef: { name: 'Prod' } }, 'spec.spaceRef.name: Invalid value: "Prod": '],
    ['DatabaseCluster', { backup: { frequency: 'weekly' } }, 'spec.backup.frequency: Unsupported value: "weekly": '],
    ['DatabaseCluster', { backup: { retentionDays: 7 } }, 'spec.backup.frequency: Required value'],
    ['DatabaseCluster', { state: 'Stopped' }, 'spec.state: Unsupported value: "Stopped": '],
    ['DatabaseCluster', { deletionPolicy: 'Keep' }, 'spec.deletionPolicy: Unsupported value: "Keep": '],
    [
      'DatabaseUser',
      { connectionSecret: { labels: { a: 'bad value!' } } },
      'spec.connectionSecret.labels.a: Invalid value: "bad value!": ',
    ],
    ['DatabaseSpace', { pollInterval: `${'1h'.repeat(17)}` }, 'spec.pollInterval: Too long: '],
    ['DatabaseSpace', { apiTokens: [] }, 'spec.apiTokens: Invalid value: '],
    ['DatabaseSpace', { teamID: undefined }, 'spec.teamID: Required value'],
    ['DatabaseSpace', { caBundle: 'no base64!' }, 'spec.caBundle: Invalid value: "no base64!": '],
    [
      'DatabaseSpace',
      { apiTokens: [{ level: 'owner', secretRef: { name: 'a' } }] },
      'spec.apiTokens[0].level: Unsupported value: "owner": ',
    ],
    [
      'DatabaseSpace',
      { apiTokens: ['a', 'b'].map((name) => ({ level: 'write', secretRef: { name } })) },
      'spec.apiTokens[1]: Duplicate value: {"level":"write"}',
    ],
  ])('%s with %j', async (kind, spec, says) => {
    const { causes } = await tryToCreate(kind, spec);
    expect(causes[0]).toSatisfy((cause: string) => cause.startsWith(says));
    expect(causes.join()).not.toContain('type conversion error');
  });
});

describe('the API server accepts', () => {
  const offers = machineTypes.flatMap(({ provider, name, regions }) =>
    regions.map((region) => ({ provider, region, machineType: name })),
  );

  test.each(offers)('$machineType in $region', async (offer) => {
    expect((await tryToCreate('DatabaseCluster', offer)).causes).toEqual([]);
  });

  test.each<[string, Kind, Readonly<Record<string, unknown>>]>([
    [
      'an unlisted provider with allowUnlisted',
      'DatabaseCluster',
      { provider: 'azure', region: 'eu-1', allowUnlisted: true },
    ],
    ['an unlisted region with allowUnlisted', 'DatabaseCluster', { region: 'mars-1', allowUnlisted: true }],
    ['an unlisted machine type with allowUnlisted', 'DatabaseCluster', { machineType: 'c9', allowUnlisted: true }],
    ['an unlisted storage type with allowUnlisted', 'DatabaseCluster', { storageType: 'fast', allowUnlisted: true }],
    ['more servers with allowUnlisted', 'DatabaseCluster', { serverCount: 3, allowUnlisted: true }],
    [
      'an unlisted free machine type with allowUnlisted',
      'DatabaseCluster',
      { isFree: true, storageSizeGB: 10, allowUnlisted: true },
    ],
    ['more servers of an older version', 'DatabaseCluster', { serverCount: 9, version: '2.29.1' }],
    [
      'a free cluster',
      'DatabaseCluster',
      { isFree: true, machineType: 'c2d-highcpu-2', storageSizeGB: 10, backup: { frequency: 'disabled' } },
    ],
    ['backups for 30 days', 'DatabaseCluster', { backup: { frequency: 'hourly', retentionDays: 30 } }],
    ['a cluster id with separators', 'DatabaseCluster', { clusterID: 'orders_eu-1' }],
    ['http, which only the operator can judge', 'DatabaseSpace', { baseURL: 'http://cloud.example.com:8080/prefix' }],
    ['an IPv6 address', 'DatabaseSpace', { baseURL: 'http://[::1]:8080' }],
    ['a server URL with a path', 'DatabaseSpace', { serverURL: 'http://gateway/{host}/{port}' }],
    [
      'everything that may be a label, annotation or key of a Secret',
      'DatabaseUser',
      {
        connectionSecret: {
          labels: { a: '', B_1: 'x.y_Z-0', 'example.com/a.b': 'a'.repeat(63), [`${'a'.repeat(253)}/a`]: 'x' },
          annotations: { 'Example.com/A': 'any text!', a: '' },
          template: { '.hidden': 'x', 'a..b': 'x', [`${'a'.repeat(253)}`]: 'x' },
        },
      },
    ],
    ['no regular verification', 'DatabaseSpace', { verifyInterval: '0s' }],
    [
      'namespaces by label',
      'DatabaseSpace',
      { allowedNamespaces: { from: 'Selector', selector: { matchLabels: { a: 'b' } } } },
    ],
  ])('%s', async (_, kind, spec) => {
    expect((await tryToCreate(kind, spec)).causes).toEqual([]);
  });

  test.each([
    ['cloned', { cloneFrom: { clusterRef: { name: 'source' } } }],
    ['adopted', { adoptionPolicy: 'MustExist' }],
    ['observed', { managementPolicy: 'Observe' }],
  ])('a cluster that is %s without the fields that only a deploy needs', async (_, spec) => {
    const absent = {
      provider: undefined,
      region: undefined,
      machineType: undefined,
      storageSizeGB: undefined,
      version: undefined,
    };
    expect((await tryToCreate('DatabaseCluster', { ...absent, ...spec })).causes).toEqual([]);
  });

  test.each<[string, Omit<Rejection, 'rule' | 'says'>]>([
    ['another cluster id', { kind: 'DatabaseCluster', spec: { clusterID: 'renamed' } }],
    ['another size', { kind: 'DatabaseCluster', spec: { machineType: 'c2d-highcpu-8', storageSizeGB: 200 } }],
    [
      'a region where none was',
      {
        kind: 'DatabaseCluster',
        before: { adoptionPolicy: 'MustExist', region: undefined },
        spec: { adoptionPolicy: 'MustExist' },
      },
    ],
    ['a username that is the default', { kind: 'DatabaseUser', name: 'same', spec: { username: 'same' } }],
    [
      'no username if it is the default',
      { kind: 'DatabaseUser', name: 'left', before: { username: 'left' }, spec: {} },
    ],
    ['a name that is the default', { kind: 'Database', name: 'same', spec: { name: 'same' } }],
    ['another team before any cluster was seen', { kind: 'DatabaseSpace', spec: { teamID: 'other' } }],
    [
      'another space while no cluster is managed',
      { kind: 'DatabaseSpace', status: { clusters: { total: 5, managed: 0 } }, spec: { spaceID: 'other' } },
    ],
    [
      'another team and space while only clusters of other DatabaseSpaces are managed',
      {
        kind: 'DatabaseSpace',
        status: { clusters: { total: 5, managed: 3, own: 0 } },
        spec: { teamID: 'other', spaceID: 'other' },
      },
    ],
  ])('a change to %s', async (_, change) => {
    expect((await tryToUpdate(change)).causes).toEqual([]);
  });
});
