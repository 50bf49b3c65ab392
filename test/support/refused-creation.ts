import { expect } from 'vitest';

interface Bench {
  pass(): Promise<unknown>;
  ready(): string;
  status(): { readonly operation?: unknown };
}

/** Expects that a creation was refused, that nothing is left written down of it, and that people see nothing of four more tries. */
export async function staysRefused(bench: Bench): Promise<void> {
  const refused = bench.ready();
  expect(refused).toMatch(/^False /);
  expect(bench.status().operation).toBeUndefined();
  for (let pass = 0; pass < 4; pass++) {
    await bench.pass();
    expect(bench.ready()).toBe(refused);
  }
}
