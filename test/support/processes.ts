/** Reports whether a process with this id is running. (A zombie counts; our children are reaped by Node.) */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
