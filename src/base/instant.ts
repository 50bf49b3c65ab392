import * as z from 'zod';

/** Formats a time, in milliseconds since 1970, to the second, as Kubernetes' metav1.Time does: 2026-11-21T09:30:00Z. */
export function instant(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

const WRITTEN = z.iso.datetime({ offset: true });

/**
 * Reads a time with its zone, in milliseconds since 1970; undefined: it is none. Date.parse alone reads 30 February as 2 March, and finds
 * a time in `cluster 1`. Far years have a form of their own, which only Date writes.
 */
export function parseInstant(text: string): number | undefined {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  return WRITTEN.safeParse(text).success || new Date(ms).toISOString() === text ? ms : undefined;
}
