import {readFileSync} from 'node:fs';
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {secretName} from '../../operator/cli/platform/policy/guarded.ts';
import {normalise, objectNameOf} from '../../operator/domain/hostnames/hostname.ts';
import {rows} from '../support/policy.ts';

const chart = readFileSync(new URL('../../charts/doorplate/templates/admission-policy.yaml', import.meta.url), 'utf8');

describe('The admission policy', () => {
  test('has each row of its table once', () => {
    expect(rows.map((r) => r.title).filter((title, i, all) => all.indexOf(title) !== i)).toEqual([]);
  });

  test('knows the Secret of every hostname by its name', () => {
    const [, pattern] = /metadata\.name\.matches\('([^']+)'\)/.exec(chart) ?? [];
    const form = new RegExp(pattern ?? '(?!)');
    expect(secretName).toEqual(form);
    fc.assert(
      fc.property(
        fc.uuid(),
        fc.oneof(
          fc.domain(),
          fc.constantFrom('bücher.example', '例え.テスト', `${'a'.repeat(63)}.example`, '1.example'),
        ),
        (uid, written) => {
          const hostname = normalise(written);
          fc.pre(hostname !== undefined);
          expect(objectNameOf(uid, hostname)).toMatch(form);
        },
      ),
      {numRuns: 2000},
    );
    expect('web').not.toMatch(form);
  });
});
