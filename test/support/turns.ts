/** Measures how long work holds the event loop between the turns that it gives, in processor time of this thread. */
export function measuredTurns(): {
  readonly yieldNow: () => Promise<void>;
  readonly longestMs: () => number;
  readonly turns: () => number;
} {
  let startedMicros = threadMicros();
  let longestMicros = 0;
  let turns = 0;
  const note = () => {
    longestMicros = Math.max(longestMicros, threadMicros() - startedMicros);
  };
  return {
    yieldNow: async () => {
      note();
      turns++;
      await new Promise((resolve) => setImmediate(resolve));
      startedMicros = threadMicros();
    },
    longestMs: () => {
      note();
      return longestMicros / 1000;
    },
    turns: () => turns,
  };
}

function threadMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
