import { isForbidden, type KubeError } from './api.ts';

/** Resolves to the answer, or to the KubeError that says which right the caller lacks. Rejects with any other error. */
export async function unlessForbidden<T>(answer: Promise<T>): Promise<T | KubeError> {
  try {
    return await answer;
  } catch (error) {
    if (isForbidden(error)) return error;
    throw error;
  }
}
