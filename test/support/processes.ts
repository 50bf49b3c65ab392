/** Whether a process of this id runs. (A zombie counts; our children are reaped by Node.) */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
