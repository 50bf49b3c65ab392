import { describe, expect, it } from 'vitest';
import { aUser } from '../../../../test/support/user-builders.ts';
import type { SecretContents } from '../../secrets.ts';
import { changesTo } from './changes.ts';
import { newSecret, type WantedSecret, wantedSecret } from './content.ts';
import { passwordsIn, refusalOfPassword } from './passwords.ts';

const WHERE = { endpoint: 'https://b.test:8000/db', address: 'b.test:8000', addresses: 'a.test:8000,b.test:8000' };
const CHANGED_AT = '2026-11-20T12:00:00.000Z';
const passwords = { current: 'now', next: undefined };
const wanted = (user = aUser(), known: Parameters<typeof wantedSecret>[2] = passwords, at = CHANGED_AT) =>
  wantedSecret(user.subject, WHERE, known, { at });

/** As it is in the API once it was written. */
function written(secret: WantedSecret, more: Partial<SecretContents> = {}): SecretContents {
  const { data, labels, annotations = {}, ownerReferences = [], type = '' } = newSecret(secret);
  const known = { name: 'app-connection', uid: 'u', resourceVersion: '1', labels, annotations, ownerReferences, type };
  return { ...known, data: new Map(Object.entries(data)), notText: new Set(), ...more };
}

describe('the connection Secret', () => {
  it('holds where the server is, and who signs in', () => {
    expect(wanted().data).toEqual({
      type: 'database',
      provider: 'mooring',
      host: 'b.test',
      port: '8000',
      username: 'app',
      password: 'now',
      uri: 'https://b.test:8000/db',
      addresses: 'a.test:8000,b.test:8000',
    });
  });

  it('names an IPv6 host without brackets, also in templates; in addresses they stay', () => {
    const user = aUser().with({ connectionSecret: { template: { AT: '{{ host }} {{ port }}' } } });
    const where = { endpoint: 'https://[fd00::1]:9109', address: '[fd00::1]:9109', addresses: '[fd00::1]:9109' };
    expect(wantedSecret(user.subject, where, passwords, { at: CHANGED_AT }).data).toMatchObject({
      host: 'fd00::1',
      port: '9109',
      uri: 'https://[fd00::1]:9109',
      addresses: '[fd00::1]:9109',
      AT: 'fd00::1 9109',
    });
  });

  it('holds only a coming password, and nothing made from a password, before the first was accepted', () => {
    const template = { WITH: '{{ username }}:{{ password }}', WITHOUT: '{{ username }}' };
    const user = aUser().with({ connectionSecret: { template } });
    const { data, annotations } = wanted(user, { current: undefined, next: 'coming' });
    expect(data).toMatchObject({ nextPassword: 'coming', WITHOUT: 'app' });
    expect(Object.keys(data)).not.toEqual(expect.arrayContaining(['password']));
    expect(Object.keys(data)).not.toContain('WITH');
    expect(Object.keys(annotations)).toEqual(['mooring.dev/checksum']);
  });

  it('has a checksum that changes with everything except the coming password, and that nobody can test guesses with', () => {
    const checksum = (secret: WantedSecret) => secret.annotations['mooring.dev/checksum'];
    const base = checksum(wanted());
    const template = (text: string) => aUser().with({ connectionSecret: { template: { KEY: text } } });
    const others = [
      wanted(aUser(), passwords, '2026-11-20T13:00:00.000Z'),
      wanted(aUser().with({ username: 'other' })),
      wanted(template('{{ password }}')),
      wanted(template('{{ username }}')),
      wantedSecret(aUser().subject, { ...WHERE, addresses: 'b.test:8000' }, passwords, { at: CHANGED_AT }),
    ].map(checksum);
    expect(new Set([base, ...others]).size).toBe(6);
    expect(checksum(wanted(aUser(), { current: 'now', next: 'coming' }))).toBe(base);
    expect(checksum(wanted(aUser(), { current: 'another', next: undefined }))).toBe(base);
  });

  it('needs no change once it is written', () => {
    const user = aUser().with({ connectionSecret: { labels: { a: 'b' }, annotations: { c: 'd' } } });
    expect(changesTo(written(wanted(user)), wanted(user))).toBeUndefined();
  });

  it('loses what the spec no longer says, and nothing that others have put there', () => {
    const user = aUser().with({
      connectionSecret: { labels: { a: 'b' }, annotations: { c: 'd' }, template: { K: 'x' } },
    });
    const secret = written(wanted(user));
    const seen = {
      ...secret,
      labels: { ...secret.labels, theirs: 'x' },
      annotations: { ...secret.annotations, theirs: 'y' },
    };
    expect(changesTo(seen, wanted())).toEqual({
      data: { K: null },
      labels: { a: null },
      annotations: {
        c: null,
        'mooring.dev/applied': null,
        'mooring.dev/checksum': wanted().annotations['mooring.dev/checksum'],
      },
    });
  });

  it('is put right even if its notes were spoilt', () => {
    const user = aUser().with({ connectionSecret: { labels: { a: 'b' } } });
    for (const note of ['no JSON', '[]', '{"labels": 7}', '[["mooring.dev/user"],[]]']) {
      const secret = written(wanted(user));
      const seen = { ...secret, annotations: { ...secret.annotations, 'mooring.dev/applied': note } };
      expect(changesTo(seen, wanted(user))).toEqual({ annotations: { 'mooring.dev/applied': '[["a"],[]]' } });
    }
  });

  it('belongs to the object that exists now, beside owners of others', () => {
    const { owner } = wanted();
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', name: 'app', uid: 'x' };
    const { controller: _, ...another } = { ...owner, name: 'another', uid: 'y' };
    const seen = written(wanted(), { ownerReferences: [theirs, another, { ...owner, uid: 'before the restore' }] });
    expect(changesTo(seen, wanted())).toEqual({ ownerReferences: [theirs, another, owner] });
    expect(changesTo(written(wanted(), { ownerReferences: [owner, theirs] }), wanted())).toBeUndefined();
  });

  it('is controlled by the object, unless it has a controller, as Kubernetes accepts only one', () => {
    const { owner } = wanted();
    const { controller, ...plain } = owner;
    expect(controller).toBe(true);
    const theirs = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'x', controller: true };
    const seen = written(wanted(), { ownerReferences: [theirs] });
    expect(changesTo(seen, wanted())).toEqual({ ownerReferences: [theirs, plain] });
    expect(changesTo(written(wanted(), { ownerReferences: [theirs, plain] }), wanted())).toBeUndefined();
  });
});

describe('passwords', () => {
  it.each([
    ['', /empty/],
    ['x'.repeat(73), /73 bytes/],
    ['ü'.repeat(37), /74 bytes/],
  ])('%j is of no use', (password, why) => {
    expect(refusalOfPassword(password)).toMatch(why);
  });

  it.each(['x', 'x'.repeat(72), 'ü'.repeat(36), 'with\na line'])('%j is', (password) => {
    expect(refusalOfPassword(password)).toBeUndefined();
  });

  it('in the Secret count as far as a server could accept them', () => {
    const server = { isFactoryPassword: () => false };
    const { subject } = aUser();
    const secret = written(wanted(aUser(), { current: 'now', next: 'x'.repeat(73) }));
    expect(passwordsIn(secret, { access: server, subject })).toEqual({ current: 'now', next: undefined });
    expect(passwordsIn({ ...secret, notText: new Set(['password']) }, { access: server, subject })).toEqual({
      current: undefined,
      next: undefined,
    });
    expect(passwordsIn(undefined, { access: server, subject })).toEqual({ current: undefined, next: undefined });
  });
});
