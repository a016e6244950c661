import {lengthSeconds, minutePhase, windowEnd} from '../../operator/limits/window.ts';

/** A name, beginning so, whose minute ends in that many seconds: the phase follows from the name of the pool. */
function withMinuteEnding(
  prefix: string,
  {atLeast, below}: {atLeast: number; below: number},
  poolOf = (name: string) => `tenant:${name}`,
): string {
  const nowMs = Date.now();
  for (let i = 0; ; i++) {
    const name = `${prefix}${i}`;
    const left = windowEnd(lengthSeconds.minute, minutePhase(poolOf(name)), nowMs) - nowMs / 1000;
    if (left >= atLeast && left < below) return name;
  }
}

/** Of an Account, whose minute has just begun: none ends in the middle of a test. */
export const withFreshMinute = (prefix: string): string => withMinuteEnding(`${prefix}-`, {atLeast: 55, below: 60});

/** Of a namespace, in which the page's own minute has just begun. */
export const withFreshMinuteOfPage = (prefix: string): string =>
  withMinuteEnding(`${prefix}-`, {atLeast: 55, below: 60}, (name) => `page:${name}`);

/** Of an IPv4 address, which begins so (`203.0.113.`), whose minute without a key has just begun. */
export const withFreshMinuteOfAddress = (prefix: string): string =>
  withMinuteEnding(prefix, {atLeast: 55, below: 60}, (address) => `address:${address}`);

/** Of an Account, whose next minute begins a few seconds after the test, so that a test that waits for it is short. */
export const withMinuteToCome = (prefix: string, {atLeast, below} = {atLeast: 5, below: 10}): string =>
  withMinuteEnding(`${prefix}-`, {atLeast, below});
