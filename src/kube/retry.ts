import { isConflict } from './api.ts';

/** client-go's RetryOnConflict: `work` reads again and writes. Throws what `work` throws, or the conflict after so many tries. */
export async function retryOnConflict(tries: number, work: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error) || tried >= tries) throw error;
    }
  }
}
