/** The platform's list of who has which hostname, as DomainClaims. */
import {describe, expect, test} from '@jest/globals';
import {parseAllDocuments} from 'yaml';
import {claimsIn} from '../../../../operator/cli/platform/claims.ts';

const claimOf = (name: string, account: string) => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: {name},
  spec: {tenant: {account}, proof: 'Platform'},
});

describe('A list of hostnames and Accounts', () => {
  test('becomes claims that count as proof, each named by its hostname as it is compared', () => {
    const text = '# hostname, Account\r\nDocs.Example.com.,acme\n\n  bücher.example , next\n';
    expect(parseAllDocuments(claimsIn(text, 'list.csv')).map((document) => document.toJS() as unknown)).toEqual([
      claimOf('docs.example.com', 'acme'),
      claimOf('xn--bcher-kva.example', 'next'),
    ]);
  });

  test('makes none where lines are wrong, and names each of them', () => {
    const lines = [
      'docs.example.com,acme',
      'docs.example.com',
      'shop.example.com,acme,5',
      'not a name,acme',
      'co.uk,acme',
      'www.example.com,Acme',
      'DOCS.example.com,next',
      'docs.example.org,',
    ];
    expect(() => claimsIn(lines.join('\n'), 'list.csv')).toThrow(
      /^list.csv has errors, so no claims are printed:\nline 2: .*\nline 3: .*\nline 4: "not a name" is not a hostname\nline 5: co.uk is a public suffix, which no tenant can own\nline 6: Account "Acme": .*\nline 7: line 1 already has the hostname\nline 8: [^\n]*$/,
    );
  });

  test.each(['', '# nothing\n'])('that is empty (%j) is an error', (text) => {
    expect(() => claimsIn(text, 'list.csv')).toThrow('list.csv has no line with a hostname and an Account');
  });
});
