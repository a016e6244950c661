import {describe, expect, test} from '@jest/globals';
import {licensed, licenseTexts, packageFolders} from '../../cluster/licenses.ts';

describe('The licences of a bundle', () => {
  test('are those of the packages that its files come from, nested ones too', () => {
    const inputs = [
      'operator/main.ts',
      'node_modules/ajv/lib/a.js',
      'node_modules/ajv/node_modules/fast-uri/index.js',
      'node_modules/@a/b/c/d.js',
      'node_modules/@a/b/e.js',
    ];
    const folders = ['node_modules/ajv', 'node_modules/ajv/node_modules/fast-uri', 'node_modules/@a/b'];
    expect(packageFolders(inputs)).toEqual(folders);
  });

  test('are read from a package, and a licence that it declares without a text has the known one', () => {
    expect(licensed('node_modules/zod').text).toMatch(/MIT License/);
    expect(licensed('node_modules/abstract-logging').text).toMatch(
      /^MIT License[^]*Copyright \(c\) James Sumners[^]*WARRANTIES/,
    );
    expect(licensed('node_modules/wouter').text).toMatch(/public domain/);
  });

  test('stop the build if a package has no text', () => {
    const packages = [
      {name: 'a', version: '1', identifier: 'MIT', text: 'A'},
      {name: 'b', version: '2', identifier: 'BUSL-1.1'},
    ];
    expect(() => licenseTexts(packages)).toThrow('packages without a license text: b 2');
    expect(licenseTexts(packages.slice(0, 1))).toMatch(/\na 1 \(MIT\)\n\nA\n$/);
  });
});
