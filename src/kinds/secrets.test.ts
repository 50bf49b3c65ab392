import { beforeEach, describe, expect, it } from 'vitest';
import { secretsOf } from '../../test/support/secrets.ts';
import { TerminalError, TransientError } from '../base/errors.ts';
import { isAlreadyExists, isConflict, KubeError, SECRETS } from '../kube/api.ts';
import { FakeKube } from '../sandbox/fake-kube.ts';
import { createSeededRandom } from '../simulator/seeded-random.ts';
import {
  createSecrets,
  isManaged,
  loginFrom,
  ownerValue,
  type SecretContents,
  type Secrets,
  valuesFrom,
} from './secrets.ts';

const { signal } = new AbortController();
let kube: FakeKube;
let secrets: Secrets;

beforeEach(() => {
  kube = new FakeKube({ now: () => 0, random: createSeededRandom(1) });
  secrets = createSecrets(kube, secretsOf(kube));
});

const read = async (name = 'login') => {
  const found = await secrets.read('shop', name, signal);
  if (found === undefined) throw new Error(`There is no Secret ${name}`);
  return found;
};

describe('createSecrets()', () => {
  it('reads what it has written', async () => {
    await secrets.create('shop', 'login', {
      labels: { owner: 'orders' },
      data: { username: 'admin', password: 'p4ß' },
    });
    const found = await read();
    expect(Object.fromEntries(found.data)).toEqual({ username: 'admin', password: 'p4ß' });
    expect(found.labels).toEqual({ 'app.kubernetes.io/managed-by': 'mooring', owner: 'orders' });
    expect(secrets.version('shop', 'login')).toBe(found.resourceVersion);
    expect(secrets.uid('shop', 'login')).toBe(found.uid);
  });

  it('reads nothing if there is none', async () => {
    expect(await secrets.read('shop', 'login', signal)).toBeUndefined();
    expect(secrets.version('shop', 'login')).toBeUndefined();
  });

  it('overwrites nothing when it creates', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    const again = secrets.create('shop', 'login', { labels: {}, data: { password: 'two' } });
    await expect(again).rejects.toSatisfy(isAlreadyExists);
    expect((await read()).data.get('password')).toBe('one');
  });

  it('shows nothing that a Secret already holds if a webhook repeats it when it refuses a change', async () => {
    await secrets.create('shop', 'login', {
      labels: {},
      data: { username: 'administrator', password: 'correct horse' },
    });
    const held = await read();
    const message = `denied the Secret of administrator: correct horse, ${btoa('correct horse')}`;
    const patch = () =>
      Promise.reject(
        new KubeError(message, {
          status: 403,
          reason: 'Forbidden',
          fields: [{ field: 'data', message }],
          retryAfterMs: 9,
        }),
      );
    const refusing = createSecrets(Object.assign(Object.create(kube) as FakeKube, { patch }), secretsOf(kube));
    const error = await refusing
      .patch('shop', 'login', held, { labels: { owner: 'orders' } })
      .catch((thrown) => thrown);
    expect(error).toMatchObject({ status: 403, reason: 'Forbidden', retryAfterMs: 9 });
    const told = error.message + JSON.stringify(error.fields);
    expect(told).toContain('denied the Secret of administrator');
    expect(told).not.toMatch(/correct|horse|Y29ycmVjd/);
  });

  it('sets keys, removes those that are null, and keeps the others', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { kept: 'k', password: 'one', nextPassword: 'two' } });
    await secrets.patch('shop', 'login', await read(), { data: { password: 'two', nextPassword: null } });
    expect(Object.fromEntries((await read()).data)).toEqual({ kept: 'k', password: 'two' });
  });

  it('writes to no Secret that changed since it was read', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    const before = await read();
    await secrets.patch('shop', 'login', before, { data: { password: 'two' } });
    await expect(secrets.patch('shop', 'login', before, { data: { password: 'three' } })).rejects.toSatisfy(isConflict);
  });

  it('deletes no Secret that took the name since', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    const before = await read();
    kube.remove(SECRETS, { namespace: 'shop', name: 'login' });
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'two' } });
    await expect(secrets.delete('shop', 'login', before)).rejects.toSatisfy(isConflict);
    await secrets.delete('shop', 'login', await read());
    expect(kube.all(SECRETS)).toEqual([]);
  });

  it('protects a Secret with a finalizer, and releases it', async () => {
    const finalizer = 'mooring.dev/space-1';
    const kept = async () => [secrets.canBeKept('shop', 'login'), await secrets.keptBy('shop', finalizer, [])];
    const leaves = () => secrets.isLeaving('shop', 'login');
    expect(await kept()).toEqual([false, []]);
    expect(leaves()).toBe(false);
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    expect(await kept()).toEqual([true, []]);
    await secrets.keep('shop', 'login', finalizer, true);
    expect(await kept()).toEqual([true, ['login']]);
    expect(leaves()).toBe(false);
    expect(await secrets.keptBy('other', finalizer, [])).toEqual([]);
    kube.remove(SECRETS, { namespace: 'shop', name: 'login' });
    expect(kube.all(SECRETS)).toHaveLength(1);
    // An object that is being deleted accepts no new finalizer.
    expect(await kept()).toEqual([false, ['login']]);
    expect(leaves()).toBe(true);
    await secrets.keep('shop', 'login', finalizer, false);
    expect(kube.all(SECRETS)).toEqual([]);
  });
});

describe('createSecrets(), with a cache that is behind', () => {
  const finalizer = 'mooring.dev/space-1';

  it('knows and frees what is kept, even if the cache has not seen that it is', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    const before = secretsOf(kube).get('shop/login');
    await secrets.keep('shop', 'login', finalizer, true);
    const behind = createSecrets(kube, { get: () => before, withFinalizer: () => [] });
    expect(await behind.keptBy('shop', finalizer, ['gone', 'login'])).toEqual(['login']);
    await behind.keep('shop', 'login', finalizer, false);
    expect(kube.all(SECRETS)[0]?.metadata).not.toHaveProperty('finalizers');
    expect(await behind.keptBy('shop', finalizer, ['gone', 'login'])).toEqual([]);
  });

  it('says so if it was released already, so that nobody retries until that is seen', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    await secrets.keep('shop', 'login', finalizer, true);
    const before = secretsOf(kube).get('shop/login');
    await secrets.keep('shop', 'login', finalizer, false);
    const behind = createSecrets(kube, { get: () => before, withFinalizer: () => ['shop/login'] });
    await expect(behind.keep('shop', 'login', finalizer, false)).rejects.toSatisfy(isConflict);
  });

  it('keeps nothing that has changed since', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
    const before = secretsOf(kube).get('shop/login');
    await secrets.patch('shop', 'login', await read(), { data: { password: 'two' } });
    const behind = createSecrets(kube, { get: () => before, withFinalizer: () => [] });
    await expect(behind.keep('shop', 'login', finalizer, true)).rejects.toSatisfy(isConflict);
  });
});

it.each([
  ['another field is invalid', { fields: [{ field: 'metadata.annotations', message: 'too long' }] }],
  ['its data is invalid for another reason', { causes: ['FieldValueInvalid'] }],
  ['something else is forbidden', { status: 403 }],
])('createSecrets() does not say that a Secret is immutable if %s', async (_, more) => {
  const kube = new FakeKube({ now: () => 0, random: createSeededRandom(1) });
  const secrets = createSecrets(kube, secretsOf(kube));
  await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
  const read = await secrets.read('shop', 'login', new AbortController().signal);
  const said = { status: 422, fields: [{ field: 'data', message: 'wrong' }], causes: ['FieldValueForbidden'], ...more };
  kube.patch = () => Promise.reject(new KubeError('Secret "login" is refused', said));
  const attempt = secrets.patch('shop', 'login', read as SecretContents, { data: { password: 'two' } });
  await expect(attempt).rejects.toMatchObject({ name: 'KubeError', message: 'Secret "login" is refused' });
});

it('createSecrets() says what to do if a person has made a Secret immutable', async () => {
  const kube = new FakeKube({ now: () => 0, random: createSeededRandom(1) });
  const secrets = createSecrets(kube, secretsOf(kube));
  await secrets.create('shop', 'login', { labels: {}, data: { password: 'one' } });
  const read = await secrets.read('shop', 'login', new AbortController().signal);
  const fields = [{ field: 'data', message: 'field is immutable when `immutable` is set' }];
  kube.patch = () =>
    Promise.reject(
      new KubeError('Secret "login" is invalid', { status: 422, fields, causes: ['FieldValueForbidden'] }),
    );
  const attempt = secrets.patch('shop', 'login', read as SecretContents, { data: { password: 'two' } });
  await expect(attempt).rejects.toMatchObject({
    reason: 'SecretImmutable',
    message: expect.stringMatching(
      /"login" in namespace "shop" is immutable.*: pause this object \(annotation mooring\.dev\/paused=true\), replace the Secret with a copy/,
    ),
  });
});

describe('createSecrets(), if it was done already', () => {
  it('writes nothing to keep a Secret, or to release it', async () => {
    const written: string[] = [];
    const api = new FakeKube({
      now: () => 0,
      random: createSeededRandom(1),
      onUnchanged: (_, { name }) => written.push(name),
    });
    const { keep, create } = createSecrets(api, secretsOf(api));
    await create('shop', 'login', { labels: {}, data: { password: 'one' } });
    await keep('shop', 'login', 'mooring.dev/space-1', false);
    await keep('shop', 'login', 'mooring.dev/space-1', true);
    await keep('shop', 'login', 'mooring.dev/space-1', true);
    expect(written).toEqual([]);
  });
});

describe('ownerValue()', () => {
  it('is the name, up to the length of a label', () => {
    expect(ownerValue('o'.repeat(63))).toBe('o'.repeat(63));
  });

  it('distinguishes longer names', () => {
    const [one, two] = [ownerValue(`${'o'.repeat(80)}-1`), ownerValue(`${'o'.repeat(80)}-2`)];
    expect(one).not.toBe(two);
    expect(one).toMatch(/^o{46}-[0-9a-f]{16}$/);
  });
});

describe('valuesFrom() and loginFrom()', () => {
  it('take the keys that the reference names', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { user: 'admin', pass: 'one' } });
    const ref = { name: 'login', usernameKey: 'user', passwordKey: 'pass' };
    expect(loginFrom(await read(), ref, 'shop')).toEqual({ username: 'admin', password: 'one' });
  });

  it('wait for a Secret that does not exist', () => {
    const missing = () => loginFrom(undefined, { name: 'login' }, 'shop');
    expect(missing).toThrow(TransientError);
    expect(missing).toThrow(
      'Secret "login" does not exist: create it in namespace "shop", with keys "username" and "password"',
    );
    const one = () => valuesFrom(undefined, 'login', ['pass'], 'shop');
    expect(one).toThrow('in namespace "shop", with key "pass"');
  });

  it('name a key that is missing or empty, and the keys that exist, but no value', async () => {
    await secrets.create('shop', 'login', { labels: {}, data: { username: 'confidential', password: '' } });
    const found = await read();
    const missing = () => valuesFrom(found, 'login', ['password'], 'shop');
    const both = () => loginFrom(found, { name: 'login', usernameKey: 'user' }, 'shop');
    expect(missing).toThrow(TerminalError);
    expect(missing).toThrow('no value under key "password" (its keys: "username", "password")');
    expect(both).toThrow('no value under keys "user" and "password" (its keys: "username", "password"): add them');
    expect(missing).not.toThrow('confidential');
  });
});

it.each([
  [true, { 'mooring.dev/cluster': 'orders', 'app.kubernetes.io/managed-by': 'mooring' }],
  [true, { 'mooring.dev/user': 'app', 'app.kubernetes.io/managed-by': 'mooring' }],
  // A person's, who named it after its user, or copied it into a chart.
  [false, { 'mooring.dev/user': 'app' }],
  [false, { 'mooring.dev/user': 'app', 'app.kubernetes.io/managed-by': 'Helm' }],
  [false, { 'app.kubernetes.io/managed-by': 'mooring' }],
  [false, {}],
])('isManaged() is %s with labels %j', (expected, labels) => {
  expect(isManaged({ labels })).toBe(expected);
});
