/** Formats a time, in milliseconds since 1970, to the second, as Kubernetes' metav1.Time does: 2026-11-21T09:30:00Z. */
export function instant(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
