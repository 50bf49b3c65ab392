import { describe, expect, it } from 'vitest';
import { aWorld, SPACE } from '../../test/support/planned-world.ts';
import { CLUSTER_SPEC } from '../../test/support/specs.ts';
import { makePlan } from './plan.ts';
import { NOTHING_TOLD, policyOf } from './policy.ts';

const CLEAR = 'http://cloud.example.com';
const NEXT = 'DatabaseSpace next';
const space = (baseURL: string) => ({ [NEXT]: { ...SPACE, spaceID: 'next', baseURL } });

describe('makePlan() of a space', () => {
  const endOf = async (baseURL: string, told = {}) => {
    const world = await aWorld({});
    const input = await world.input(space(baseURL));
    const { outcomes } = await makePlan({ ...input, told: { ...NOTHING_TOLD, ...told } }, world.clock);
    return outcomes.find(({ name }) => name === 'DatabaseSpace shop/next')?.end;
  };

  it('says the same as the operator about a base URL that is not https', async () => {
    expect(await endOf(CLEAR)).toEqual({
      ready: 'False',
      reason: 'BaseURLNotAllowed',
      message: expect.stringContaining('is not https: use https, or start the operator with --allow-http'),
    });
    for (const [baseURL, told] of [
      [CLEAR, { allowHTTP: true }],
      ['http://127.0.0.1:8080', {}],
      ['https://cloud.example.com', {}],
    ] as const)
      expect(await endOf(baseURL, told), baseURL).toMatchObject({ ready: 'True' });
  });

  it('says the same as the operator about a base URL that it does not list', async () => {
    const told = { allowedBaseURLs: ['https://cloud.example.com'] };
    expect(await endOf('https://other.example.com', told)).toMatchObject({
      reason: 'BaseURLNotAllowed',
      message: expect.stringContaining("is not among the operator's --allowed-base-urls (https://cloud.example.com)"),
    });
    expect(await endOf('https://cloud.example.com', told)).toMatchObject({ ready: 'True' });
  });
});

it('makePlan() says the same as the operator about a server that is reached by http', async () => {
  const world = await aWorld({});
  const { baseURL } = world.simulator;
  const specs = {
    [NEXT]: { ...SPACE, spaceID: 'next', baseURL, serverURL: 'http://{host}:{port}' },
    'DatabaseCluster orders': { ...CLUSTER_SPEC, spaceRef: { name: 'next' } },
  };
  const input = await world.input(specs);
  const endWith = async (allowHTTP: boolean, given = input) => {
    const plan = await makePlan({ ...given, told: { ...NOTHING_TOLD, allowHTTP } }, world.clock);
    return plan.outcomes.find(({ name }) => name === 'DatabaseCluster shop/orders')?.end;
  };
  expect(await endWith(false)).toMatchObject({ ready: 'False', reason: 'ServerURLNotAllowed' });
  expect(await endWith(true)).toMatchObject({ ready: 'True' });
  const onLoopback = { ...specs, [NEXT]: { ...specs[NEXT], baseURL: 'http://127.0.0.1:8080' } };
  expect(await endWith(false, await world.input(onLoopback))).toMatchObject({ ready: 'True' });
});

describe('policyOf()', () => {
  const listed = { observedGeneration: 1, clusters: { total: 0, managed: 0 } };
  const condition = (reason: string) => ({
    conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  });

  it.each([
    ['treats http as allowed if the operator lists a space with it', CLEAR, listed, true],
    ['whatever else is wrong with that space', CLEAR, { ...listed, ...condition('CloudUnreachable') }, true],
    ['but not if the operator refuses it', CLEAR, { ...listed, ...condition('BaseURLNotAllowed') }, false],
    ['nor before it has listed the space', CLEAR, { observedGeneration: 1 }, false],
    ['nor before it has seen the URL', CLEAR, { ...listed, observedGeneration: 0 }, false],
    ['nor for loopback', 'http://localhost:8080', listed, false],
    ['nor for https', 'https://cloud.example.com', listed, false],
  ])('%s', async (_what, baseURL, status, allowHTTP) => {
    const world = await aWorld({});
    const objects = (await world.input(space(baseURL))).objects.map((each) => {
      const { key, wanted } = each;
      if (wanted === undefined || key !== 'shop/next') return each;
      return { ...each, live: { ...wanted, metadata: { ...wanted.metadata, generation: 1 }, status } };
    });
    expect(policyOf(NOTHING_TOLD, objects)).toMatchObject({ allowHTTP });
    expect(policyOf({ ...NOTHING_TOLD, allowHTTP: true }, objects)).toMatchObject({ allowHTTP: true });
  });

  it('treats http as allowed if the operator reaches a server with it', async () => {
    const world = await aWorld({ 'DatabaseCluster orders': CLUSTER_SPEC });
    const { objects } = await world.input({});
    const at = (endpoint: string) =>
      policyOf(
        NOTHING_TOLD,
        objects.map((each) =>
          each.live === undefined ? each : { ...each, live: { ...each.live, status: { endpoint } } },
        ),
      ).allowHTTP;
    expect([at('http://server.example.com:8000'), at('https://server.example.com:8000')]).toEqual([true, false]);
  });
});
