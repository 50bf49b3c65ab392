import { expect, test } from 'vitest';
import { isAnnotationKey, isLabelKey, isLabelValue, isObjectName, isSecretKey } from './names.ts';

const dns = (length: number) => 'a'.repeat(length);

test.each([
  ['isObjectName', isObjectName, ['a', 'a-b.c9', '9', dns(253)], ['', 'A', 'a_b', '-a', 'a-', 'a..b', dns(254)]],
  [
    'isLabelKey',
    isLabelKey,
    ['a', 'App_1.x-y', 'example.com/a', `${dns(253)}/a`, `example.com/${dns(63)}`],
    ['', '/a', 'Example.com/a', 'a/b/c', '-a', `${dns(254)}/a`, `example.com/${dns(64)}`],
  ],
  ['isAnnotationKey', isAnnotationKey, ['Example.com/a', `${dns(253)}/a`], ['example_com/a', `${dns(254)}/a`]],
  ['isLabelValue', isLabelValue, ['', 'a', 'A_b.c-d', dns(63)], ['a b', '-a', 'a-', dns(64)]],
  ['isSecretKey', isSecretKey, ['a', '.a', 'tls.crt', 'A_b', dns(253)], ['', '.', '..', '..a', 'a/b', dns(254)]],
] as const)('%s() accepts what Kubernetes does', (_, accepts, good, bad) => {
  expect([good.filter((name) => !accepts(name)), bad.filter(accepts)]).toEqual([[], []]);
});
