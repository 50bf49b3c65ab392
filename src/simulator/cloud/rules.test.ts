import { describe, expect, it } from 'vitest';
import { CLUSTERS, cloudBench, DEPLOY, DEPLOY_FREE } from '../../../test/support/simulator.ts';
import { CLONE_RULES, DEPLOY_RULES, UPDATE_RULES } from './rules.ts';

interface Case {
  /** The rule that refuses. Undefined: none does. */
  readonly rule?: string;
  readonly change: Record<string, unknown>;
  readonly from?: Record<string, unknown>;
}

const deployCases: Readonly<Record<string, Case>> = {
  'a plain cluster': { change: {} },
  'an id of words and separators': { change: { id: 'a1-b_2--c' } },
  'an id with capitals': { rule: 'id', change: { id: 'Orders' } },
  'an id that starts with a separator': { rule: 'id', change: { id: '-orders' } },
  'an id that ends with a separator': { rule: 'id', change: { id: 'orders_' } },
  'an empty id': { rule: 'id', change: { id: '' } },
  'an id with a slash': { rule: 'id', change: { id: 'a/b' } },
  'nine servers of version 2': { change: { serverCount: 9, version: '2.29.1' } },
  'an even number of servers': { rule: 'serverCount', change: { serverCount: 2 } },
  'no servers': { rule: 'serverCount', change: { serverCount: 0 } },
  'eleven servers': { rule: 'serverCount', change: { serverCount: 11 } },
  'three servers of version 3': { rule: 'oneServerFromVersion3', change: { serverCount: 3 } },
  'three servers of the latest version': {
    rule: 'oneServerFromVersion3',
    change: { serverCount: 3, version: 'latest' },
  },
  'the least storage': { change: { storageSizeGB: 10 } },
  'the most storage': { change: { storageSizeGB: 1000 } },
  'too little storage': { rule: 'storageSizeGB', change: { storageSizeGB: 9 } },
  'too much storage': { rule: 'storageSizeGB', change: { storageSizeGB: 1001 } },
  'an unknown provider': { rule: 'provider', change: { provider: 'azure' } },
  'a region of the other provider': { rule: 'region', change: { region: 'eu-west-2' } },
  'a machine type of the other provider': { rule: 'machineType', change: { machineType: 'c7g.large' } },
  'a machine type that the region lacks': {
    rule: 'machineType',
    change: { provider: 'aws', region: 'us-east-1', machineType: 'c7g.xlarge', storageType: 'gp2-csi' },
  },
  'a machine type in its region': {
    change: { provider: 'aws', region: 'us-east-1', machineType: 'c8g.xlarge', storageType: 'gp2-csi' },
  },
  'a storage type of the other provider': { rule: 'storageType', change: { storageType: 'gp2-csi' } },
  'the latest version': { change: { version: 'latest' } },
  'a version that is not available': { rule: 'version', change: { version: '9.9.9' } },
  'a paid cluster without backup': { rule: 'backupConfiguration', change: { backupConfiguration: undefined } },
  'an unknown backup frequency': {
    rule: 'backup',
    change: { backupConfiguration: { frequency: 'weekly', retentionDays: 7 } },
  },
  'an odd retention': { rule: 'backup', change: { backupConfiguration: { frequency: 'daily', retentionDays: 14 } } },
  'thirty days of retention': { change: { backupConfiguration: { frequency: 'hourly', retentionDays: 30 } } },
  'a free cluster': { change: DEPLOY_FREE },
  'a free cluster without backup': { change: { ...DEPLOY_FREE, backupConfiguration: undefined } },
  'a free cluster with backup': {
    rule: 'backup',
    change: { ...DEPLOY_FREE, backupConfiguration: { frequency: 'daily', retentionDays: 7 } },
  },
  'a free cluster on a paid machine': {
    rule: 'freeMachineType',
    change: { ...DEPLOY_FREE, machineType: 'c2d-highcpu-4' },
  },
  'a free cluster with much storage': { rule: 'freeSize', change: { ...DEPLOY_FREE, storageSizeGB: 11 } },
  'a free cluster of three servers': {
    rule: 'freeSize',
    change: { ...DEPLOY_FREE, serverCount: 3, version: '2.29.1' },
  },
};

describe('deploy', () => {
  it.each(Object.entries(deployCases))('judges %s', async (_, { rule, change }) => {
    const { send, token } = cloudBench();
    const answer = await send('POST', `${CLUSTERS}/deploy`, {
      token: await token('write'),
      body: { ...DEPLOY, ...change },
    });
    expect(answer.status).toBe(rule === undefined ? 200 : 400);
    if (rule !== undefined) expect(answer.json()['code']).toBe(rule);
  });

  it('refuses a second free cluster of the team, also in another space', async () => {
    const { simulator, send, token } = cloudBench();
    simulator.deployForeign({ ...DEPLOY_FREE, id: 'first', spaceID: 'staging' });
    const answer = await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body: DEPLOY_FREE });
    expect([answer.status, answer.json()['code']]).toEqual([400, 'oneFreeClusterPerTeam']);
  });

  it('refuses a paid cluster for a team without a payment method, but not a free one', async () => {
    const { simulator, send, token } = cloudBench();
    simulator.setPaymentMethod('acme', false);
    const deploy = async (body: unknown) => send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body });
    expect((await deploy(DEPLOY)).json()['code']).toBe('paymentMethod');
    expect((await deploy(DEPLOY_FREE)).status).toBe(200);
  });

  it('answers a violated rule with the status that the knob names', async () => {
    const { send, token } = cloudBench({ knobs: { ruleViolationStatus: 403 } });
    const body = { ...DEPLOY, serverCount: 2 };
    expect((await send('POST', `${CLUSTERS}/deploy`, { token: await token('write'), body })).status).toBe(403);
  });
});

const updateCases: Readonly<Record<string, Case>> = {
  'another size': { change: { storageSizeGB: 200 } },
  'another machine': { change: { machineType: 'c2d-highcpu-8' } },
  'another backup': { change: { backupConfiguration: { frequency: 'hourly', retentionDays: 30 } } },
  'another id': { change: { id: 'orders2' } },
  nothing: { rule: 'atLeastOne', change: {} },
  'a bad id': { rule: 'id', change: { id: 'Orders' } },
  'an id in use': { rule: 'clusterIDInUse', change: { id: 'taken' } },
  'too much storage': { rule: 'storageSizeGB', change: { storageSizeGB: 1001 } },
  'a machine of the other provider': { rule: 'machineType', change: { machineType: 'c7g.large' } },
  'an odd retention': { rule: 'backup', change: { backupConfiguration: { frequency: 'daily', retentionDays: 1 } } },
  'a paid machine for a free cluster': {
    rule: 'freeMachineType',
    from: DEPLOY_FREE,
    change: { machineType: 'c2d-highcpu-4' },
  },
  'much storage for a free cluster': { rule: 'freeSize', from: DEPLOY_FREE, change: { storageSizeGB: 20 } },
  'backup for a free cluster': {
    rule: 'backup',
    from: DEPLOY_FREE,
    change: { backupConfiguration: { frequency: 'daily', retentionDays: 7 } },
  },
};

describe('update', () => {
  it.each(Object.entries(updateCases))('judges %s', async (_, { rule, change, from }) => {
    const { simulator, send, token } = cloudBench();
    simulator.deployForeign({ ...DEPLOY, ...from, id: 'orders' });
    simulator.deployForeign({ id: 'taken' });
    const answer = await send('PATCH', `${CLUSTERS}/orders`, { token: await token('write'), body: change });
    expect(answer.status).toBe(rule === undefined ? 200 : 400);
    if (rule !== undefined) expect(answer.json()['code']).toBe(rule);
  });

  it('asks for a payment method to change more of a free cluster than its id', async () => {
    const { simulator, send, token } = cloudBench();
    simulator.deployForeign({ ...DEPLOY_FREE, id: 'orders' });
    simulator.setPaymentMethod('acme', false);
    const update = async (body: unknown) => send('PATCH', `${CLUSTERS}/orders`, { token: await token('write'), body });
    expect((await update({ storageSizeGB: 10 })).json()['code']).toBe('freeNeedsPaymentMethod');
    expect((await update({ id: 'renamed' })).status).toBe(200);
  });
});

describe('clone', () => {
  const clone = async (id: string, prepare: (bench: ReturnType<typeof cloudBench>) => void, isFree = false) => {
    const bench = cloudBench();
    bench.simulator.deployForeign({ ...(isFree ? DEPLOY_FREE : DEPLOY), id: 'orders' });
    prepare(bench);
    return bench.send('POST', `${CLUSTERS}/orders/clone`, { token: await bench.token('write'), body: { id } });
  };

  it('accepts a valid id that is free', async () => {
    expect((await clone('copy', () => undefined)).status).toBe(200);
  });

  it.each([
    ['id', 'Copy', () => undefined, false],
    ['clusterIDInUse', 'orders', () => undefined, false],
    [
      'paymentMethod',
      'copy',
      ({ simulator }: ReturnType<typeof cloudBench>) => simulator.setPaymentMethod('acme', false),
      false,
    ],
    ['oneFreeClusterPerTeam', 'copy', () => undefined, true],
  ] as const)('refuses by rule %s', async (rule, id, prepare, isFree) => {
    const answer = await clone(id, prepare, isFree);
    expect([answer.status, answer.json()['code']]).toEqual([400, rule]);
  });
});

describe('the tables of rules', () => {
  it('name every rule once and cite the document', () => {
    for (const rules of [DEPLOY_RULES, UPDATE_RULES, CLONE_RULES]) {
      expect(new Set(rules.map((rule) => rule.name)).size).toBe(rules.length);
      for (const rule of rules) expect(rule.section).not.toBe('');
    }
  });

  it('are each broken by a case above', () => {
    const broken = (cases: Readonly<Record<string, Case>>) => Object.values(cases).map((one) => one.rule);
    const elsewhere = ['oneFreeClusterPerTeam', 'paymentMethod', 'freeNeedsPaymentMethod'];
    const rest = (rules: readonly { readonly name: string }[], cases: Readonly<Record<string, Case>>) =>
      rules.map((rule) => rule.name).filter((name) => !elsewhere.includes(name) && !broken(cases).includes(name));
    expect([...rest(DEPLOY_RULES, deployCases), ...rest(UPDATE_RULES, updateCases)]).toEqual([]);
  });
});
