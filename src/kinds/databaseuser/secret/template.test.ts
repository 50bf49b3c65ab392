import { describe, expect, it } from 'vitest';
import { type FixedKey, render } from './template.ts';

const values: Record<FixedKey, string> = {
  type: 'database',
  provider: 'mooring',
  host: 'orders.test',
  port: '443',
  username: 'app',
  password: 'a b&{{ host }}$&/ü',
  uri: 'https://orders.test',
  addresses: 'a.test:1,b.test:2',
};

describe('render()', () => {
  it.each([
    ['', ''],
    ['as it is', 'as it is'],
    ['{{ username }}@{{host}}:{{  port  }}', 'app@orders.test:443'],
    ['{{ addresses }} {{ type }}/{{ provider }} {{ uri }}', 'a.test:1,b.test:2 database/mooring https://orders.test'],
    ['{{ password | urlencode }}', 'a%20b%26%7B%7B%20host%20%7D%7D%24%26%2F%C3%BC'],
    ['{{password|urlencode}}', 'a%20b%26%7B%7B%20host%20%7D%7D%24%26%2F%C3%BC'],
    ['{"user": {"name": "{{ username }}"}}', '{"user": {"name": "app"}}'],
    ['two\nlines {{ port }}', 'two\nlines 443'],
  ])('%j is %j', (text, expected) => {
    expect(render(text, values)).toBe(expected);
  });

  it('inserts a value as it is, whatever it looks like, and interprets none twice', () => {
    expect(render('{{ password }}', values)).toBe(values.password);
  });

  it.each([
    '{{ hots }}',
    '{{ host.constructor }}',
    '{{ constructor }}',
    '{{ host | base64 }}',
    '{{ host | urlencode | urlencode }}',
    '{{ host',
    '{{ }}',
    '{{{ host }}}',
    '{{ host }} {{ nothing }}',
  ])('%j holds an unknown placeholder', (text) => {
    expect(render(text, values)).toBeUndefined();
  });
});
