import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Packer } from './packer.ts';

const cluster = (name: string, state = 'running') =>
  JSON.stringify({
    metadata: { name, namespace: 'shop', labels: { team: 'sales', 'app.kubernetes.io/part-of': 'webshop' } },
    spec: { provider: 'gcp', region: 'europe-west2', machineType: 'c2d-highcpu-4', storageSizeGB: 100 },
    status: {
      state,
      conditions: [{ type: 'Ready', message: `Cluster "${name}" runs; its login is in "${name}-admin"` }],
    },
  });

test('Packer returns any JSON text unchanged', () => {
  const packer = new Packer();
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (values) => {
      const texts = values.map((value) => JSON.stringify(value));
      const packed = texts.map((text) => packer.pack(text));
      expect(packed.map((each) => packer.unpack(each))).toEqual(texts);
    }),
  );
});

test('Packer returns texts that differ from their model in every way possible for the same shape', () => {
  const packer = new Packer();
  for (const text of [
    cluster('orders'),
    cluster('orders'),
    cluster('größe ☃ 𝄞'),
    cluster('1"2'),
    cluster('\\'),
    cluster(''),
    cluster('a', ''),
  ])
    expect(packer.unpack(packer.pack(text))).toBe(text);
});

test('Packer keeps only the differences of a text that resembles another', () => {
  const packer = new Packer();
  packer.pack(cluster('orders'));
  expect(packer.pack(cluster('invoices', 'suspended')).length).toBeLessThan(cluster('invoices').length / 4);
});

test('Packer keeps a text in several places once, if the model has the same text in all of them', () => {
  const packer = new Packer();
  const text = (name: string, id = name) => JSON.stringify({ name, id, label: name });
  packer.pack(text('orders'));
  expect(packer.pack(text('invoices')).split('invoices')).toHaveLength(2);
  for (const each of [text('invoices'), text('invoices', 'orders'), text('orders', 'invoices')])
    expect(packer.unpack(packer.pack(each))).toBe(each);
  const states = (first: string) => JSON.stringify([first, ...Array.from({ length: 100 }, () => 'True')]);
  packer.pack(states('True'));
  // One of many differs, and the others do not.
  expect(packer.pack(states('False')).length).toBeLessThan(25);
});

test('Packer keeps no more models than there may be kinds of objects, whatever is packed', () => {
  const packer = new Packer();
  const texts = Array.from({ length: 1_000 }, (_, index) =>
    JSON.stringify({ annotation: '"'.repeat(index), name: 'x' }),
  );
  const huge = JSON.stringify({ annotation: '"'.repeat(5_000), name: 'x' });
  for (const text of [...texts, huge]) expect(packer.unpack(packer.pack(text))).toBe(text);
  const like = (text: string) => packer.pack(text.replace('"x"', '"y"')).length;
  expect(like(texts[0] ?? '')).toBeLessThan(20);
  expect(like(texts[999] ?? '')).toBeGreaterThan(1_000);
  expect(like(huge)).toBeGreaterThan(5_000);
});

test('Packer returns the same for the same text, and something else for another', () => {
  const packer = new Packer();
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
      packer.pack(b);
      expect(packer.pack(a) === packer.pack(b)).toBe(a === b);
      expect(packer.pack(a)).toBe(packer.pack(a));
    }),
  );
});

test('Packer never keeps a text of many kilobytes', () => {
  const packer = new Packer();
  const large = JSON.stringify({ schema: 'x'.repeat(20_000), name: 'x' });
  expect(packer.unpack(packer.pack(large))).toBe(large);
  const small = JSON.stringify({ schema: 'y', name: 'x' });
  packer.pack(small);
  // The first one kept for its shape is the small one.
  expect(packer.pack(small).length).toBeLessThan(10);
  expect(packer.unpack(packer.pack(large))).toBe(large);
});
