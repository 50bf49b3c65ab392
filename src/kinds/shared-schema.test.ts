import { expect, test } from 'vitest';
import { durationText, immutableScalar, keepsField, objectName, secretKey, textWith } from './shared-schema.ts';

test('textWith() writes CEL whose cost the API server can estimate, and quotes the text', () => {
  expect(textWith('a "quoted" %s and %d', 'self.name', 'self.count')).toBe(
    String.raw`"a \"quoted\" %s and %d".format([dyn(self.name), dyn(self.count)])`,
  );
});

test('immutableScalar() names the field, both values and the remedy', () => {
  expect(immutableScalar('region', 'make another')).toMatchObject({
    rule: 'self == oldSelf',
    message: 'region cannot change: make another',
    messageExpression: '"region cannot change from %s to %s: make another".format([dyn(oldSelf), dyn(self)])',
  });
});

test('keepsField() points at the field that is gone', () => {
  expect(keepsField('region', 'it stays')).toMatchObject({
    rule: '!has(oldSelf.region) || has(self.region)',
    fieldPath: '.region',
  });
});

test('durationText() accepts 0s only if that means something', () => {
  expect(durationText('interval', '1s').meta()?.['x-kubernetes-validations']).toMatchObject([
    {},
    { message: 'interval must be at least 1s' },
  ]);
  expect(durationText('interval', '1s', true).meta()?.['x-kubernetes-validations']).toMatchObject([
    {},
    { message: 'interval must be at least 1s, or 0s' },
  ]);
});

test.each(['30d', '', '5', 'a week', '1.5h', '9999999h'])(
  'durationText() says how to write a duration instead of "%s"',
  (text) => {
    expect(durationText('interval', '1s').safeParse(text).error?.issues).toMatchObject([
      {
        message:
          'interval must be a duration such as 720h, 30m or 1h30m; days are not a unit: write 720h for 30d; numbers have five digits at most',
      },
    ]);
  },
);

test.each(['a', 'a-b', 'a.b', 'x'.repeat(253)])('objectName() accepts "%s"', (name) => {
  expect(objectName().safeParse(name).success).toBe(true);
});

test.each(['', 'A', '-a', 'a-', 'a..b', '../a', 'x'.repeat(254)])('objectName() refuses "%s"', (name) => {
  expect(objectName().safeParse(name).success).toBe(false);
});

test.each(['', 'a b', 'a/b', '../a'])('secretKey() refuses "%s"', (key) => {
  expect(secretKey().safeParse(key).success).toBe(false);
});
