/** Processes of this machine, as /proc shows them. */
import {readdirSync, readFileSync} from 'node:fs';
import {setTimeout as sleep} from 'node:timers/promises';

/** A file in /proc/PID; empty if the process has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

export const childrenOf = (pid: number): number[] =>
  (read(pid, `task/${pid}/children`).match(/\d+/g) ?? []).map(Number);

/** Whether the process runs: it is neither gone nor a zombie. */
export const isAlive = (pid: number): boolean => /^State:\t[^ZX]/m.test(read(pid, 'status'));

/** Resolves when every thread of a process has stopped: after SIGSTOP a thread may still answer a request. */
export async function allStopped(pid: number): Promise<void> {
  const runs = (thread: string) => !/^State:\tT/m.test(read(pid, `task/${thread}/status`));
  while (readdirSync(`/proc/${pid}/task`).some(runs)) await sleep(5);
}
