import { describe, expect, it } from 'vitest';
import { FinalizerIndex } from './finalizer-index.ts';

describe('FinalizerIndex', () => {
  it('knows from changes which objects carry a finalizer of ours', () => {
    const index = new FinalizerIndex();
    const secret = (...finalizers: string[]) => ({
      metadata: { name: 'login', namespace: 'shop', uid: 'u', resourceVersion: '1', finalizers },
    });
    const one = secret('mooring.dev/space-1', 'example.com/other');
    const two = secret('mooring.dev/space-2');
    index.changed('shop/login', undefined, one);
    index.changed('shop/token', undefined, one);
    expect([...index.withFinalizer('mooring.dev/space-1')]).toEqual(['shop/login', 'shop/token']);
    expect([...index.withFinalizer('example.com/other')]).toEqual([]);
    index.changed('shop/login', one, two);
    expect([...index.withFinalizer('mooring.dev/space-1')]).toEqual(['shop/token']);
    index.changed('shop/token', one, undefined);
    expect([...index.withFinalizer('mooring.dev/space-1')]).toEqual([]);
    expect([...index.withFinalizer('mooring.dev/space-2')]).toEqual(['shop/login']);
  });
});
