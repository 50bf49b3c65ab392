import { expect, test } from 'vitest';
import { type HttpRequest, type HttpResponse, type HttpTransport, readText } from '../../../src/base/transport.ts';
import { type Check, runCheck, type Target } from '../../conformance/check.ts';
import { CLOUD_CHECKS } from '../../conformance/cloud-checks.ts';
import { SERVER_CHECKS } from '../../conformance/server-checks.ts';
import { simulatedCloudInProcess } from '../../conformance/simulated-cloud.ts';
import { simulatedServerInProcess } from '../../conformance/simulated-server.ts';
import { streamOf } from '../../support/http.ts';

/* A suite that cannot fail says nothing: servers that break one rule each must be found out. */

interface Lie {
  readonly lie: string;
  /** Turns an honest answer into another status or text; `undefined` leaves it as it is. */
  readonly tell: (request: HttpRequest, status: number, text: string) => { status?: number; text?: string } | undefined;
  /** The start of a check that finds out. */
  readonly found: string;
}

const CLOUD_LIES: readonly Lie[] = [
  {
    lie: 'an id in use is 400',
    tell: (_, status) => (status === 409 ? { status: 400 } : undefined),
    found: 'Deploy: an id that is in use is 409',
  },
  {
    lie: 'errors have no body',
    tell: (_, status) => (status >= 400 ? { text: '' } : undefined),
    found: 'Get: with an invalid token it is 401',
  },
  {
    lie: 'the token comes in an object',
    tell: ({ url }, status, text) =>
      url.endsWith('/auth') && status === 200 ? { text: JSON.stringify({ token: text }) } : undefined,
    found: 'Token exchange: the answer is only the access token',
  },
  {
    lie: 'a suspended cluster is running',
    tell: (_, status, text) => (status === 200 ? { text: text.replace('"suspended"', '"running"') } : undefined),
    found: 'Suspend and Resume: a suspended cluster has no servers',
  },
  {
    lie: 'everything is permitted',
    tell: (_, status) =>
      status === 403 ? { status: 200, text: '{"id":"no-such-cluster","status":"destroying"}' } : undefined,
    found: 'Destroy: a token of level read is 403',
  },
];

const SERVER_LIES: readonly Lie[] = [
  {
    lie: 'any password will do',
    tell: ({ url }, status) =>
      url.endsWith('/signin') && status === 401 ? { status: 200, text: '{"token":"x"}' } : undefined,
    found: 'Sign in: a wrong password is 401',
  },
  {
    lie: 'a missing database is empty',
    tell: ({ url }, status) => (/\/schema$/.test(url) && status === 404 ? { status: 200, text: '""' } : undefined),
    found: 'Get schema: of a missing database it is 404',
  },
  {
    lie: 'cut answers look whole',
    tell: ({ url }, _, text) =>
      url.endsWith('/query') ? { text: text.replace(/"warning":"[^"]*"/, '"warning":null') } : undefined,
    found: 'Query options: answers over the limit are cut',
  },
  {
    lie: 'health is 500',
    tell: ({ url }) => (url.endsWith('/health') ? { status: 500 } : undefined),
    found: 'Health check: it is 204',
  },
];

function lying(transport: HttpTransport, tell: Lie['tell']): HttpTransport {
  return async (request): Promise<HttpResponse> => {
    const response = await transport(request);
    const text = await readText(response, 10_000_000);
    const lie = tell(request, response.status, text);
    return { ...response, status: lie?.status ?? response.status, body: streamOf([lie?.text ?? text]) };
  };
}

async function outcomeOf<Setting extends { readonly transport: HttpTransport; pause(): Promise<void> }>(
  target: Target<Setting>,
  checks: readonly Check<Setting>[],
  { tell, found }: Lie,
): Promise<unknown> {
  const check = checks.find(({ section, name }) => `${section}: ${name}`.startsWith(found));
  if (check === undefined) throw new Error(`There is no check ${found}`);
  await runCheck(target, check);
  const liar: Target<Setting> = {
    ...target,
    open: async () => {
      const setting = await target.open();
      return { ...setting, transport: lying(setting.transport, tell) };
    },
  };
  return runCheck(liar, check).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test.each(CLOUD_LIES)('a cloud that claims that $lie is found out', async (lie) => {
  expect(await outcomeOf(simulatedCloudInProcess('document'), CLOUD_CHECKS, lie)).toBeInstanceOf(Error);
});

test.each(SERVER_LIES)('a server that claims that $lie is found out', async (lie) => {
  expect(await outcomeOf(simulatedServerInProcess('document'), SERVER_CHECKS, lie)).toBeInstanceOf(Error);
});
