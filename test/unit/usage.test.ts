/** The table of processor time leaves out cgroups that end during a sample. */
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from '@jest/globals';
import {subfolders} from '../support/usage.ts';

test('lists the cgroups below another one, and none when that is gone', () => {
  const top = mkdtempSync(join(tmpdir(), 'doorplate-usage-'));
  mkdirSync(join(top, 'pod', 'container'), {recursive: true});
  expect(subfolders(top)).toEqual([join(top, 'pod'), join(top, 'pod', 'container')]);
  rmSync(top, {recursive: true});
  expect(subfolders(top)).toEqual([]);
});
