import {afterAll, beforeAll, test} from '@jest/globals';
import {expectTheSameEnd, takenOver} from '../support/deaths.ts';
import {Platform} from '../support/platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform?.stop();
});

test('the operator dies at every write while a Live domain is taken over by another customer, who has proved it: the end is the same, with one order for each hostname, and nothing is left over', async () => {
  await expectTheSameEnd(platform, takenOver);
});
