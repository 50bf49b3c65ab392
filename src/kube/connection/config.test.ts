import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type VirtualClock, virtualClock } from '../../sandbox/virtual-clock.ts';
import { loadKubeConnection } from './config.ts';
import type { KubeConnection } from './connection.ts';
import type { Impersonation } from './impersonation.ts';

interface Given {
  readonly user?: object;
  readonly cluster?: object;
  readonly context?: object;
  readonly currentContext?: string;
}

/** A kubeconfig in a folder of its own, which is deleted after the test. */
async function withKubeconfig(given: Given, work: (path: string, folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'mooring-kubeconfig-'));
  const path = join(folder, 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': given.currentContext ?? 'main',
    clusters: [{ name: 'main', cluster: { server: 'https://api.test:6443', ...given.cluster } }],
    users: [{ name: 'me', user: given.user ?? {} }],
    contexts: [{ name: 'main', context: { cluster: 'main', user: 'me', ...given.context } }],
  };
  await writeFile(path, JSON.stringify(config));
  try {
    await work(path, folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The current certificate and key. */
const certificateOf = ({ tls }: KubeConnection) =>
  [tls.cert, tls.key].map((given) => (typeof given === 'function' ? given() : given));

const trustedBy = ({ tls: { ca } }: KubeConnection) => (typeof ca === 'function' ? ca() : ca);

/** Where a certificate begins. Nothing here reads further. */
const CA = '-----BEGIN CERTIFICATE-----';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('loadKubeConnection() reads server, namespace, certificates and token', async () => {
  const cluster = { 'certificate-authority-data': base64(CA), 'tls-server-name': 'kubernetes' };
  const user = { token: 'abc', 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
  await withKubeconfig({ cluster, user, context: { namespace: 'shop' } }, async (path) => {
    const connection = await loadKubeConnection(virtualClock(), path);
    expect(connection).toMatchObject({
      server: 'https://api.test:6443',
      namespace: 'shop',
      inPod: false,
      tls: { serverName: 'kubernetes', insecureSkipVerify: false },
    });
    expect([trustedBy(connection), ...certificateOf(connection)]).toEqual([CA, 'CERT', 'KEY']);
    expect(await connection.authorize(false)).toMatchObject({ authorization: 'Bearer abc' });
  });
});

test('loadKubeConnection() uses namespace default, and checks certificates unless told otherwise', async () => {
  await withKubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }, async (path) => {
    const { namespace, tls } = await loadKubeConnection(virtualClock(), path);
    expect([namespace, tls.insecureSkipVerify]).toEqual(['default', true]);
  });
});

test('loadKubeConnection() refuses to trust anybody and a certificate authority at once, as kubectl does', async () => {
  const cluster = { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(CA) };
  await withKubeconfig({ cluster }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(
      /^Cluster "main" of kubeconfig \S+ has both insecure-skip-tls-verify and a certificate authority: leave one out$/,
    );
  });
  await withKubeconfig(
    { cluster: { ...cluster, server: 'http://127.0.0.1:8001', 'insecure-skip-tls-verify': false } },
    async (path) => {
      expect(await loadKubeConnection(virtualClock(), path)).toMatchObject({ server: 'http://127.0.0.1:8001' });
    },
  );
});

test('loadKubeConnection() names the field of a certificate authority that is none', async () => {
  const refusal = async (cluster: object) => {
    let message: unknown;
    await withKubeconfig({ cluster }, async (path, folder) => {
      await writeFile(join(folder, 'ca.crt'), 'not PEM');
      message = await loadKubeConnection(virtualClock(), path).catch(String);
    });
    return message;
  };
  // Encoded twice.
  expect(await refusal({ 'certificate-authority-data': base64(base64(CA)) })).toMatch(
    /Cluster "main" of kubeconfig \S+: certificate-authority-data holds no certificate: /,
  );
  expect(await refusal({ 'certificate-authority': 'ca.crt' })).toMatch(
    /the file in certificate-authority holds no certificate: it must be PEM$/,
  );
});

test('loadKubeConnection() uses the proxy that the kubeconfig names', async () => {
  await withKubeconfig({ cluster: { 'proxy-url': 'http://proxy.test:3128' } }, async (path) => {
    expect((await loadKubeConnection(virtualClock(), path)).tls.proxy).toBe('http://proxy.test:3128/');
  });
  await withKubeconfig({ cluster: { 'proxy-url': 'socks5://proxy.test:1080' } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow('by http:// and https:// only');
  });
});

test('loadKubeConnection() says that no kubeconfig exists', async () => {
  vi.stubEnv('KUBECONFIG', undefined);
  vi.stubEnv('HOME', join(tmpdir(), 'nobody-lives-here'));
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const host of [undefined, '']) {
    vi.stubEnv('KUBERNETES_SERVICE_HOST', host);
    await expect(loadKubeConnection(virtualClock(), undefined)).rejects.toThrow(
      'There is no kubeconfig: set KUBECONFIG',
    );
  }
});

test('loadKubeConnection() merges the files that KUBECONFIG lists; the earlier one wins', async () => {
  await withKubeconfig({ user: { token: 'first' }, context: { namespace: 'shop' } }, async (first) => {
    await withKubeconfig({ cluster: { server: 'https://other.test' }, user: { token: 'second' } }, async (second) => {
      const list = ['/nowhere/config', first, second].join(delimiter);
      const connection = await loadKubeConnection(virtualClock(), list);
      expect(connection).toMatchObject({ server: 'https://api.test:6443', namespace: 'shop' });
      expect(await connection.authorize(false)).toMatchObject({ authorization: 'Bearer first' });
    });
  });
});

test('loadKubeConnection() skips an empty file, as kubectl does, and shows no line of one that cannot be read', async () => {
  await withKubeconfig({}, async (path, folder) => {
    const empty = join(folder, 'empty');
    await writeFile(empty, '---\n# nothing yet\n\n');
    const { server } = await loadKubeConnection(virtualClock(), [empty, path].join(delimiter));
    expect(server).toBe('https://api.test:6443');
    await expect(loadKubeConnection(virtualClock(), empty)).rejects.toThrow(/empty names no current cluster$/);
    for (const token of ['canary\n', '*canary\n', '!canary\n', '!!canary x', '!a!canary x']) {
      await writeFile(path, `users: [{name: me, user: {token: ${token}`);
      const loaded = loadKubeConnection(virtualClock(), path);
      await expect(loaded).rejects.toThrow(/^Kubeconfig \S+ cannot be read: (?!.*canary)[^\n]+ \(line \d\)$/);
    }
  });
});

test('loadKubeConnection() leaves out a login in the URL of the server, and says so if that is no URL', async () => {
  for (const login of ['me:canary', 'canary', ':canary'])
    await withKubeconfig({ cluster: { server: `https://${login}@api.test:6443` } }, async (path) => {
      expect((await loadKubeConnection(virtualClock(), path)).server).toBe('https://api.test:6443/');
    });
  await withKubeconfig({ cluster: { server: 'https://me:canary@api.test:x' } }, async (path) => {
    const loaded = loadKubeConnection(virtualClock(), path);
    await expect(loaded).rejects.toThrow(/^The server in kubeconfig \S+ is not a URL: (?!.*canary)/);
  });
});

test('loadKubeConnection() reads a token from the file that the kubeconfig names, and again after half a minute', async () => {
  await withKubeconfig({ user: { token: 'old', tokenFile: 'token' } }, async (path, folder) => {
    const write = (token: string) => writeFile(join(folder, 'token'), `${token}\n`);
    await write('first');
    const clock = virtualClock();
    const { authorize } = await loadKubeConnection(clock, path);
    expect(await authorize(false)).toMatchObject({ authorization: 'Bearer first' });
    await write('second');
    expect(await authorize(false)).toMatchObject({ authorization: 'Bearer first' });
    await clock.advance(31_000);
    expect(await authorize(false)).toMatchObject({ authorization: 'Bearer second' });
    await rm(join(folder, 'token'));
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(/^Cannot get a login .* no such file/);
  });
});

test('loadKubeConnection() acts as whom the kubeconfig says, or as whom a person says', async () => {
  const user = {
    as: 'jane',
    'as-uid': '7',
    'as-groups': ['dev', 'ops'],
    'as-user-extra': { 'example.com/why': ['drill'], '(who)': ['ops'] },
  };
  const fromFile = {
    'impersonate-user': 'jane',
    'impersonate-uid': '7',
    'impersonate-group': ['dev', 'ops'],
    'impersonate-extra-example.com%2Fwhy': ['drill'],
    'impersonate-extra-%28who%29': ['ops'],
  };
  await withKubeconfig({ user: { token: 'abc', ...user } }, async (path) => {
    const headers = async (impersonation: Impersonation) =>
      (await loadKubeConnection(virtualClock(), path, { impersonation })).authorize(false);
    expect(await headers({})).toEqual({ authorization: 'Bearer abc', ...fromFile });
    const said = { as: 'system:admin', 'as-groups': ['system:masters'] };
    expect(await headers(said)).toEqual({
      authorization: 'Bearer abc',
      ...fromFile,
      'impersonate-user': 'system:admin',
      'impersonate-group': ['system:masters'],
    });
  });
});

test('loadKubeConnection() acts as whom the kubeconfig says by the time when a login is refused', async () => {
  await withKubeconfig({ user: { token: 'first', as: 'jane' } }, async (path) => {
    const { authorize } = await loadKubeConnection(virtualClock(), path);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('first', 'second').replace('jane', 'john'));
    expect(await authorize(true)).toEqual({ authorization: 'Bearer second', 'impersonate-user': 'john' });
    await writeFile(path, text.replace('"as":', '"as-uid":'));
    await expect(authorize(true)).rejects.toThrow('no user, to act as');
  });
});

test('loadKubeConnection() takes an extra field without values for none, as kubectl does', async () => {
  const user = { token: 'abc', as: 'jane', 'as-user-extra': { a: null, b: [], c: ['d'] } };
  await withKubeconfig({ user }, async (path) => {
    expect(await (await loadKubeConnection(virtualClock(), path)).authorize(false)).toEqual({
      authorization: 'Bearer abc',
      'impersonate-user': 'jane',
      'impersonate-extra-c': ['d'],
    });
  });
});

test('loadKubeConnection() acts as nobody else than the kubeconfig says', async () => {
  await withKubeconfig({ user: { 'as-groups': ['dev'] } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow('no user, to act as: name one with --as');
  });
  await withKubeconfig({ user: { as: 'jane', 'as-groups': 'dev' } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(
      `Kubeconfig ${path} cannot be read: users.0.user.as-groups: Invalid input: expected array, received string`,
    );
  });
  await withKubeconfig({ user: { as: 'jane\n' } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(
      `Kubeconfig ${path} cannot be read: users.0.user.as: Invalid input: control characters, such as the end of a line`,
    );
  });
});

test('loadKubeConnection() signs in with the username and the password that the kubeconfig names', async () => {
  await withKubeconfig({ user: { username: 'me', password: 'p:w' } }, async (path) => {
    const { authorize } = await loadKubeConnection(virtualClock(), path);
    expect(await authorize(false)).toEqual({ authorization: `Basic ${btoa('me:p:w')}` });
  });
});

test('loadKubeConnection() needs no user, but one that a context names must exist', async () => {
  const cluster = { 'certificate-authority-data': base64(CA) };
  await withKubeconfig({ cluster, context: { user: undefined } }, async (path) => {
    const connection = await loadKubeConnection(virtualClock(), path);
    expect([trustedBy(connection), await connection.authorize(false)]).toEqual([CA, {}]);
  });
  await withKubeconfig({ cluster, context: { user: 'you' } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow('names user "you": there is none');
  });
});

test('loadKubeConnection() says so if no file exists, or it names no cluster', async () => {
  await expect(loadKubeConnection(virtualClock(), '/nowhere/config')).rejects.toThrow(
    /^There is no kubeconfig \/nowhere\/config$/,
  );
  await withKubeconfig({ currentContext: 'other' }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(
      /names no current cluster: set current-context to one of main$/,
    );
  });
});

/** A user whose login comes from a plugin that runs this shell script in the kubeconfig's folder. */
async function withPlugin(work: (path: string, script: (text: string) => Promise<void>) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'mooring-plugin-'));
  const command = join(folder, 'plugin');
  const script = (text: string) => writeFile(command, `#!/bin/sh\n${text}\n`, { mode: 0o700 });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never' };
  try {
    await withKubeconfig({ user: { exec } }, (path) => work(path, script));
  } finally {
    await rm(folder, { recursive: true });
  }
}

const credentialWith = (status: object) =>
  `echo '${JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status })}'`;
const credential = (token: string) => credentialWith({ token });

test('loadKubeConnection() asks an exec plugin again when its login was refused, even if it named no expiry', async () => {
  await withPlugin(async (path, script) => {
    await script(credential('first'));
    const { authorize } = await loadKubeConnection(virtualClock(), path);
    expect(await authorize(false)).toMatchObject({ authorization: 'Bearer first' });
    await script(credential('second'));
    expect(await authorize(false)).toMatchObject({ authorization: 'Bearer first' });
    expect(await authorize(true)).toMatchObject({ authorization: 'Bearer second' });
  });
});

test('loadKubeConnection() accepts a token that was put into the kubeconfig when the one before was refused', async () => {
  await withKubeconfig({ user: { token: 'first' } }, async (path) => {
    const { authorize } = await loadKubeConnection(virtualClock(), path);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('first', 'second'));
    expect(await authorize(true)).toMatchObject({ authorization: 'Bearer second' });
  });
});

test('loadKubeConnection() says that an exec plugin fails, and repeats nothing that could be a credential', async () => {
  await withPlugin(async (path, script) => {
    await script('echo "no session, log in" >&2; exit 1');
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(
      'Cannot get a login as the kubeconfig says: no session, log in',
    );
    await script('exit 1');
    await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow('the exec plugin failed, and said nothing');
    for (const printed of ['canary-token', '{}', '{"token": "canary-token"}']) {
      await script(`echo '${printed}'`);
      await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(/printed no ExecCredential$/);
    }
    for (const printed of ['echo null', credentialWith({})]) {
      await script(printed);
      await expect(loadKubeConnection(virtualClock(), path)).rejects.toThrow(/gave no login: neither a token/);
    }
  });
});

test('loadKubeConnection() passes on at once what an exec plugin says to a person, and waits for its login', async () => {
  await withPlugin(async (path, script) => {
    await script(`echo 'open https://login.test and enter ABC' >&2\nread answer < ${path}.fifo\n${credential('abc')}`);
    execFileSync('mkfifo', [`${path}.fifo`]);
    const told = Promise.withResolvers<string>();
    const connection = loadKubeConnection(virtualClock(), path, { tell: (text) => text && told.resolve(text) });
    expect(await told.promise).toBe('open https://login.test and enter ABC\n');
    await writeFile(`${path}.fifo`, 'done\n');
    expect(await (await connection).authorize(false)).toEqual({ authorization: 'Bearer abc' });
  });
});

test('loadKubeConnection() ends an exec plugin that hangs when it is interrupted', async () => {
  await withPlugin(async (path, script) => {
    await script('echo begun >&2; exec sleep 600');
    const interrupt = new AbortController();
    const tell = (text: string) => text && interrupt.abort();
    await expect(loadKubeConnection(virtualClock(), path, { tell, signal: interrupt.signal })).rejects.toThrow(
      'aborted',
    );
  });
});

test('loadKubeConnection() does not repeat what an exec plugin has told a person', async () => {
  await withPlugin(async (path, script) => {
    await script('echo "no session, log in" >&2; exit 1');
    let told = '';
    const tell = (text: string) => {
      told += text;
    };
    await expect(loadKubeConnection(virtualClock(), path, { tell })).rejects.toThrow(
      /^Cannot get a login as the kubeconfig says: the exec plugin failed, as it says above$/,
    );
    expect(told).toBe('no session, log in\n');
    await script('exit 1');
    await expect(loadKubeConnection(virtualClock(), path, { tell })).rejects.toThrow('failed, and said nothing');
  });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/no/plugin', interactiveMode: 'Never' };
  await withKubeconfig({ user: { exec } }, async (path) => {
    await expect(loadKubeConnection(virtualClock(), path, { tell: () => {} })).rejects.toThrow('/no/plugin ENOENT');
  });
});

test('loadKubeConnection() tells when what an exec plugin says is over: it gave a login, or is asked again', async () => {
  await withPlugin(async (path, script) => {
    const told: string[] = [];
    await script(`echo first >&2\n${credential('abc')}`);
    const { authorize } = await loadKubeConnection(virtualClock(), path, { tell: (text) => told.push(text) });
    await script('echo second >&2; exit 1');
    await authorize(true).catch(() => {});
    expect(told).toEqual(['', 'first\n', '', '', 'second\n']);
  });
});

test('loadKubeConnection() gives an exec plugin no input: one that asked for some would wait for ever', async () => {
  await withPlugin(async (path, script) => {
    await script(`read answer || ${credential('asked-nobody')}`);
    const { authorize } = await loadKubeConnection(virtualClock(), path);
    expect(await authorize(false)).toEqual({ authorization: 'Bearer asked-nobody' });
  });
});

test('loadKubeConnection() runs an exec plugin from the folder of the kubeconfig, and gives it what client-go does', async () => {
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never' };
  const told = async (provideClusterInfo: boolean, skips = false) => {
    let info: unknown;
    const cluster = skips ? { 'insecure-skip-tls-verify': true } : { 'certificate-authority-data': base64(CA) };
    await withKubeconfig({ cluster, user: { exec: { ...exec, provideClusterInfo } } }, async (path, folder) => {
      const script = `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" > ${folder}/info\n${credential('abc')}\n`;
      await writeFile(join(folder, 'plugin'), script, { mode: 0o700 });
      const { authorize } = await loadKubeConnection(virtualClock(), path);
      expect(await authorize(false)).toMatchObject({ authorization: 'Bearer abc' });
      info = JSON.parse(await readFile(join(folder, 'info'), 'utf8'));
    });
    return info;
  };
  const { apiVersion } = exec;
  expect(await told(false)).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  const cluster = { server: 'https://api.test:6443', 'certificate-authority-data': base64(CA) };
  expect(await told(true)).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false, cluster } });
  expect(await told(true, true)).toMatchObject({ spec: { cluster: { 'insecure-skip-tls-verify': true } } });
});

test('loadKubeConnection() gives an exec plugin its arguments and variables, and the authority even if that is in a file', async () => {
  const user = {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin',
      args: ['login', '--quiet'],
      env: [{ name: 'LOGIN_PROFILE', value: 'work' }],
      interactiveMode: 'Never',
      provideClusterInfo: true,
    },
  };
  await withKubeconfig({ cluster: { 'certificate-authority': 'ca.crt' }, user }, async (path, folder) => {
    await writeFile(join(folder, 'ca.crt'), CA);
    const script = `#!/bin/sh\nprintf '%s\\n' "$LOGIN_PROFILE: $*" "$KUBERNETES_EXEC_INFO" > ${folder}/info\n${credential('abc')}\n`;
    await writeFile(join(folder, 'plugin'), script, { mode: 0o700 });
    await loadKubeConnection(virtualClock(), path);
    const [given, info = ''] = (await readFile(join(folder, 'info'), 'utf8')).split('\n');
    expect(given).toBe('work: login --quiet');
    expect(JSON.parse(info)).toMatchObject({ spec: { cluster: { 'certificate-authority-data': base64(CA) } } });
  });
});

test('loadKubeConnection() uses the context that a person names, and the kubeconfig even in a pod', async () => {
  vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
  onTestFinished(() => void vi.unstubAllEnvs());
  await withKubeconfig({ currentContext: 'none' }, async (path) => {
    vi.stubEnv('KUBECONFIG', path);
    const connection = await loadKubeConnection(virtualClock(), undefined, { context: 'main' });
    expect(connection).toMatchObject({ server: 'https://api.test:6443', inPod: false });
    await expect(loadKubeConnection(virtualClock(), path, { context: 'mian' })).rejects.toThrow(
      /^There is no context "mian": use one of main$/,
    );
    // The service account's files are not there.
    await expect(loadKubeConnection(virtualClock(), undefined)).rejects.toThrow('serviceaccount');
  });
});

test('loadKubeConnection() accepts a server by http, such as kubectl proxy', async () => {
  await withKubeconfig({ cluster: { server: 'http://127.0.0.1:8001/prefix/' } }, async (path) => {
    expect(await loadKubeConnection(virtualClock(), path)).toMatchObject({ server: 'http://127.0.0.1:8001/prefix' });
  });
});

/** Checks what holds before half a minute has passed, and after. */
async function expectTakenUp(
  clock: VirtualClock,
  connection: KubeConnection,
  check: (word: 'first' | 'second') => void,
): Promise<void> {
  for (const [ms, word] of [
    [29_000, 'first'],
    [2_000, 'second'],
  ] as const) {
    await clock.advance(ms);
    await connection.authorize(false);
    check(word);
  }
}

test('loadKubeConnection() accepts a renewed client certificate as it does a token: after half a minute', async () => {
  const user = { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' };
  await withKubeconfig({ user }, async (path, folder) => {
    const write = (word: string) =>
      Promise.all(['crt', 'key'].map((end) => writeFile(join(folder, `tls.${end}`), `${word} ${end}`)));
    await write('first');
    const clock = virtualClock();
    const connection = await loadKubeConnection(clock, path);
    await write('second');
    await expectTakenUp(clock, connection, (word) =>
      expect(certificateOf(connection)).toEqual([`${word} crt`, `${word} key`]),
    );
  });
});

test('loadKubeConnection() trusts a renewed certificate authority as it accepts a token: after half a minute', async () => {
  await withKubeconfig({ cluster: { 'certificate-authority': 'ca.crt' } }, async (path, folder) => {
    await writeFile(join(folder, 'ca.crt'), `${CA} first`);
    const clock = virtualClock();
    const connection = await loadKubeConnection(clock, path);
    await writeFile(join(folder, 'ca.crt'), `${CA} second`);
    await expectTakenUp(clock, connection, (word) => expect(trustedBy(connection)).toBe(`${CA} ${word}`));
  });
});

test('loadKubeConnection() accepts a client certificate that an exec plugin gives, and another one when that is refused', async () => {
  await withPlugin(async (path, script) => {
    const given = (word: string) =>
      script(credentialWith({ clientCertificateData: `${word} crt`, clientKeyData: `${word} key` }));
    await given('first');
    const connection = await loadKubeConnection(virtualClock(), path);
    expect(certificateOf(connection)).toEqual(['first crt', 'first key']);
    await given('second');
    await connection.authorize(true);
    expect(certificateOf(connection)).toEqual(['second crt', 'second key']);
  });
});
