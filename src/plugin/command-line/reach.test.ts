import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { reachOf } from './reach.ts';

test.each([
  [undefined, undefined, ''],
  [undefined, 'prod', ' --context prod'],
  ['/etc/kube/prod.yaml', undefined, ' --kubeconfig /etc/kube/prod.yaml'],
  [
    'prod.yaml',
    'arn:aws:eks:eu-west-1:1234:cluster/prod',
    ' --kubeconfig prod.yaml --context arn:aws:eks:eu-west-1:1234:cluster/prod',
  ],
])('reachOf() of kubeconfig %j and context %j', (kubeconfig, context, flags) => {
  expect(reachOf({ kubeconfig, context })).toBe(flags);
});

test('reachOf() repeats whom the command acts as', () => {
  const flags = { as: 'system:serviceaccount:shop:ci', 'as-group': ['a b', 'c'] };
  expect(reachOf(flags)).toBe(" --as system:serviceaccount:shop:ci --as-group 'a b' --as-group c");
});

test.each(["it's mine", 'a b', '$(touch x)', 'x;y', '"', '', '~', '\\'])(
  'a shell takes context %j as one word',
  (context) => {
    const printed = `printf '%s|'${reachOf({ kubeconfig: undefined, context })}`;
    expect(spawnSync('sh', ['-c', printed], { encoding: 'utf8' }).stdout).toBe(`--context|${context}|`);
  },
);
