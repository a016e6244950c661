import {afterAll, beforeAll, test} from '@jest/globals';
import {expectTheSameEnd, attached} from '../support/deaths.ts';
import {Platform} from '../support/platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await Platform.start();
});
afterAll(async () => {
  await platform?.stop();
});

test('the operator dies at every write while a domain with a redirect is attached, until it is Live: the end is the same, with one order for each hostname, and nothing is left over', async () => {
  await expectTheSameEnd(platform, attached);
});
