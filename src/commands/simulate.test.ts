import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sender } from '../../test/support/simulator.ts';
import { createUndiciTransport } from '../http/undici-transport.ts';
import { KNOB_SPECS } from '../simulator/knobs.ts';
import { simulate } from './simulate.ts';

interface Running {
  readonly output: string;
  stop(): Promise<number>;
}

/** Starts the command and waits until it has said what it serves, or has ended. */
async function start(...argv: string[]): Promise<Running & { readonly errors: () => string }> {
  const controller = new AbortController();
  let output = '';
  let errors = '';
  let said: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => {
    said = resolve;
  });
  const code = simulate(argv, {
    stdout: (text) => {
      output += text;
      said();
    },
    stderr: (text) => {
      errors += text;
    },
    signal: controller.signal,
  });
  await Promise.race([ready, code]);
  return {
    output,
    errors: () => errors,
    stop: () => {
      controller.abort();
      return code;
    },
  };
}

interface Announced {
  readonly baseURL: string;
  readonly teams: readonly {
    readonly id: string;
    readonly spaces: readonly string[];
    readonly apiTokens: readonly { readonly clientID: string; readonly clientSecret: string; readonly level: string }[];
  }[];
}

describe('simulate', () => {
  it('serves until it is ended, and says all that a person needs', async () => {
    const running = await start('--port', '0', '--dialect', 'field');
    const { output } = running;
    for (const text of ['dialect field', 'acme: production, staging', 'admin / password', 'admin-secret-0123456789']) {
      expect(output).toContain(text);
    }
    const baseURL = /Base URL: +(\S+)/.exec(output)?.[1] ?? '';
    const transport = createUndiciTransport();
    expect((await sender(transport, baseURL)('GET', '/')).status).toBe(200);
    expect(await running.stop()).toBe(0);
    expect((await sender(transport, baseURL)('GET', '/')).status).toBe(0);
    await transport.close();
  });

  it('says the same as JSON for scripts, and what it says works', async () => {
    const running = await start('--port=0', '--output=json', '--team=t', '--spaces=one,two', '--versions=3.1.0');
    const { baseURL, teams } = JSON.parse(running.output) as Announced;
    const team = teams[0];
    expect([team?.id, team?.spaces]).toEqual(['t', ['one', 'two']]);
    const transport = createUndiciTransport();
    const send = sender(transport, baseURL);
    for (const { clientID, clientSecret } of team?.apiTokens ?? []) {
      const answer = await send('POST', '/api/v1/auth', {
        headers: { authorization: `Basic ${clientID}:${clientSecret}` },
      });
      expect(answer.status).toBe(200);
      const versions = await send('GET', '/api/v1/cluster-versions', { token: answer.text });
      expect(versions.json()).toEqual({ availableVersions: ['3.1.0'] });
    }
    await transport.close();
    expect(await running.stop()).toBe(0);
  });

  it('turns knobs by flags', async () => {
    const running = await start('--port=0', '--output=json', '--provision-time=1s-2s', '--levels-nest=false');
    const { baseURL } = JSON.parse(running.output) as Announced;
    const transport = createUndiciTransport();
    expect((await sender(transport, baseURL)('GET', '/_simulator/knobs')).json()).toMatchObject({
      values: { provisionMs: [1000, 2000], levelsNest: false, passwordCheckMs: 60 },
    });
    await transport.close();
    await running.stop();
  });

  it.each([
    [['--echo-secrets', '--output=json']],
    [['--output=json', '--echo-secrets']],
    [['--echo-secrets', 'true', '--output=json']],
  ])('accepts a boolean knob without a value as true: %j', async (flags) => {
    const running = await start('--port=0', ...flags);
    expect(running.errors()).toBe('');
    const { baseURL } = JSON.parse(running.output) as Announced;
    const transport = createUndiciTransport();
    const knobs = await sender(transport, baseURL)('GET', '/_simulator/knobs');
    expect(knobs.json()).toMatchObject({ values: { echoSecrets: true } });
    await transport.close();
    expect(await running.stop()).toBe(0);
  });

  it('continues from its state file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'simulate-'));
    const flags = ['--port=0', '--output=json', `--state-file=${join(folder, 'state.json')}`];
    const transport = createUndiciTransport();
    const clusters = async (running: Running) => {
      const send = sender(transport, (JSON.parse(running.output) as Announced).baseURL);
      return { send, text: (await send('GET', '/_simulator/state')).text };
    };
    const first = await start(...flags);
    const { send } = await clusters(first);
    await send('POST', '/_simulator/act/deployForeign', { body: { id: 'orders' } });
    await first.stop();
    const second = await start(...flags);
    expect((await clusters(second)).text).toContain('"id":"orders"');
    await second.stop();
    await transport.close();
    await rm(folder, { recursive: true });
  });

  it('is the same again from the same seed', async () => {
    const tokens: string[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const running = await start('--port=0', '--output=json', '--seed=7');
      const transport = createUndiciTransport();
      const send = sender(transport, (JSON.parse(running.output) as Announced).baseURL);
      const authorization = 'Basic read-id:read-secret-0123456789';
      tokens.push((await send('POST', '/api/v1/auth', { headers: { authorization } })).text);
      await transport.close();
      await running.stop();
    }
    expect(tokens[0]).toBe(tokens[1]);
  });

  it('explains itself, every flag', async () => {
    const running = await start('--help');
    expect(await running.stop()).toBe(0);
    for (const { flag } of Object.values(KNOB_SPECS)) expect(running.output).toContain(`--${flag} `);
    expect(running.output).toMatch(/--server-token-lifetime .*\(default 4h\)/);
    expect(Math.max(...running.output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    for (const flag of ['host', 'port', 'dialect', 'state-file', 'seed', 'output', 'team', 'spaces', 'versions']) {
      expect(running.output).toContain(`--${flag} `);
    }
  });

  it.each([
    ['--nope', "Unknown option '--nope'"],
    ['--port=x', '--port takes a port from 0 to 65535, not "x"'],
    ['--port=99999', '--port takes a port from 0 to 65535, not "99999"'],
    ['--seed=-1', '--seed takes a number'],
    ['--dialect=klingon', '--dialect takes document or field, not "klingon"'],
    ['--output=xml', '--output takes text or json'],
    ['--spaces=,', '--spaces takes at least one'],
    ['--team=a/b', '--team takes only ids that a DatabaseSpace can name'],
    [
      '--spaces=one, two',
      '--spaces takes only ids that a DatabaseSpace can name, of 1 to 253 characters, without spaces',
    ],
    ['--spaces=one,..', 'and not . or ..: not ".."'],
    ['--provision-time=soon', '--provision-time takes a duration'],
    ['--provision-time=3', '--provision-time takes a duration such as 3s, or a range such as 1s-5s, not "3"'],
    ['--query-time=3', '--query-time takes a duration such as 60ms, 3s or 5m, not "3"'],
    ['surplus', 'surplus'],
  ])('refuses %s with exit code 2', async (flag, message) => {
    const running = await start(flag);
    expect(await running.stop()).toBe(2);
    expect(running.errors()).toContain(message);
    expect(running.output).toBe('');
  });

  it('ends with exit code 1 when its port is taken, or its state file makes no sense', async () => {
    const squatter = createServer();
    const port = await new Promise<number>((resolve) => {
      squatter.listen(0, '127.0.0.1', () => {
        const address = squatter.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const taken = await start(`--port=${port}`);
    expect(await taken.stop()).toBe(1);
    expect(taken.errors()).toBe(
      `The simulator cannot run: 127.0.0.1:${port} is in use (EADDRINUSE): end what listens there, or name another port with --port or --host\n`,
    );
    squatter.close();
    const damaged = await start('--port=0', `--state-file=${import.meta.filename}`);
    expect(await damaged.stop()).toBe(1);
    expect(damaged.errors()).toContain('is not JSON');
  });
});
