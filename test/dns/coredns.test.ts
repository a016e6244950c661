/** The checks of check.test.ts against CoreDNS as the authoritative server. */
process.env['DOORPLATE_TEST_DNS'] = 'CoreDNS';
await import('./check.test.ts');
