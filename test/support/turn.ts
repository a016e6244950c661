import {mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {eventually, root} from '../../cluster/cluster.ts';

const lock = `${root}.cluster/tmp/fault`;
const taken = () => {
  try {
    return Number(readFileSync(`${lock}/pid`, 'utf8'));
  } catch {
    return 0;
  }
};
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/**
 * One fault at a time: files prepare side by side, and what one breaks must not meet another's, or what others need whole. Waits until
 * nobody else, in another process, has something broken; resolves with what ends one's own turn.
 */
export async function turn(): Promise<() => void> {
  await eventually('nobody else has something broken', async () => {
    try {
      mkdirSync(lock);
    } catch {
      // Somebody has died in the middle of it: there is a pid, and no such process.
      if (taken() > 0 && !alive(taken())) rmSync(lock, {recursive: true, force: true});
      return false;
    }
    writeFileSync(`${lock}/pid`, String(process.pid));
    return true;
  });
  return () => rmSync(lock, {recursive: true, force: true});
}
