/**
 * Specs that must be accepted and specs that must be refused, each with where and in which words. One table:
 * `accept-refuse.test.ts` runs every row through the zod schemas and through the API server.
 */
export interface Row {
  /** What the spec is or has. */
  name: string;
  spec: unknown;
  /** Where it is refused, as the API server writes paths; absent where it is accepted. */
  refusedAt?: string;
  /** What is said there, by both; absent where each checker has words of its own (types, lengths, enums). */
  message?: string;
}

const l63 = 'a'.repeat(63);
const name253 = `${`${l63}.`.repeat(3)}${'b'.repeat(61)}`;

const shape =
  'must be a hostname of at least two labels, such as docs.example.com. Labels contain letters, digits and hyphens, and neither start nor end with a hyphen. A scheme, port, path, space, underscore or wildcard is not allowed. Write a label with other characters, such as emoji, in its ASCII form (xn--)';
const label = 'every label (the part between two dots) may have at most 63 characters (RFC 1035)';
const length = 'a hostname may have at most 253 characters (RFC 1035)';
const address = 'must be a hostname, not an IP address: create a DNS name for the address and use that name';
const reserved =
  'names under localhost, local, arpa and onion are reserved and can have no public certificate (RFC 6761, 6762, 7686)';
const takeOver = (lacking = 'this entry') =>
  `If your manifest lacks ${lacking}, another field manager has added it, and an apply keeps it: the page GitOps of Doorplate's documentation shows how to take it over`;
/** `source`: the first redirect at fault, and how many further ones there are. */
const fromPrimary = (source: string) =>
  `the redirect from ${source} must not come from the primary: use another hostname, or remove the redirect. ${takeOver()}`;
const toOther = (source: string, to: string) =>
  `the redirect from ${source} must go to the primary, not to ${to}: enter the primary, or omit \`to\`. ${takeOver()}`;
const twice = (source: string) =>
  `the redirect from ${source} and another redirect are the same hostname (case and a trailing dot make no difference): ` +
  `a hostname may have only one redirect. ${takeOver('one of them')}`;
const unfolded = (count: number, source: string) =>
  `at most 50 redirects may have capital letters or a trailing dot, but ${count} have, such as ${source}: ` +
  `write the others in lower case and without the dot. ${takeOver()}`;
const fromPrimaryFixed = 'a redirect must not come from the primary: use another hostname, or remove the redirect';

/** Hostnames, each tried as the primary, as the source and as the target of a redirect. */
export const hostnames: {name: string; hostname: string; message?: string}[] = [
  {name: 'a subdomain', hostname: 'docs.example.com'},
  {name: 'the registered name', hostname: 'example.com'},
  {name: 'capitals', hostname: 'Docs.EXAMPLE.com'},
  {name: 'a trailing dot', hostname: 'docs.example.com.'},
  {name: 'digits and hyphens', hostname: '1-a.2b.example'},
  {name: 'two hyphens in a row', hostname: 'a--b.example'},
  {name: 'Unicode', hostname: 'bücher.example'},
  {name: 'Unicode in another case', hostname: 'BÜCHER.Example'},
  {name: 'combining marks', hostname: 'bu\u0308cher.example'},
  {name: 'all Unicode', hostname: '例え.テスト'},
  {name: 'Devanagari with vowel signs', hostname: 'हिन्दी.example'},
  {name: 'Punycode', hostname: 'xn--bcher-kva.example'},
  {name: 'a label of 63', hostname: `${l63}.example`},
  {name: '253 characters', hostname: name253},
  {name: '253 characters and a dot', hostname: `${name253}.`},
  {name: 'a reserved name in front', hostname: 'localhost.example.com'},
  {name: 'a name that ends like a reserved one', hostname: 'docs.notlocal'},
  {name: 'a number in front', hostname: '192.0.2.1.example'},

  {name: 'one label', hostname: 'docs', message: shape},
  {name: 'one label and a dot', hostname: 'docs.', message: shape},
  {name: 'a leading dot', hostname: '.example.com', message: shape},
  {name: 'two trailing dots', hostname: 'docs.example.com..', message: shape},
  {name: 'an empty label', hostname: 'docs..example.com', message: shape},
  {name: 'a dot alone', hostname: '.', message: shape},
  {name: 'a leading hyphen', hostname: '-docs.example.com', message: shape},
  {name: 'a trailing hyphen', hostname: 'docs-.example.com', message: shape},
  {name: 'a wildcard', hostname: '*.example.com', message: shape},
  {name: 'an underscore', hostname: 'my_docs.example.com', message: shape},
  {name: 'a port', hostname: 'docs.example.com:443', message: shape},
  {name: 'a scheme', hostname: 'https://docs.example.com', message: shape},
  {name: 'a path', hostname: 'docs.example.com/docs', message: shape},
  {name: 'a user', hostname: 'me@example.com', message: shape},
  {name: 'a blank inside', hostname: 'my docs.example.com', message: shape},
  {name: 'a blank before', hostname: ' docs.example.com', message: shape},
  {name: 'a blank after', hostname: 'docs.example.com ', message: shape},
  {name: 'a blank alone', hostname: ' ', message: shape},
  {name: 'a line break', hostname: 'docs.example.com\n', message: shape},
  {name: 'a tab', hostname: 'do\tcs.example.com', message: shape},
  {name: 'a NUL', hostname: 'docs\0.example.com', message: shape},
  {name: 'an escape', hostname: 'docs%2eexample.com', message: shape},
  {name: 'an ideographic full stop', hostname: '例え。テスト', message: shape},
  {name: 'an emoji', hostname: '💩.example', message: shape},
  {name: 'a right-to-left override', hostname: 'docs\u202e.example', message: shape},
  {name: 'a label of 64', hostname: `${l63}a.example`, message: label},
  {name: 'a last label of 64', hostname: `docs.${l63}a`, message: label},
  {name: 'a label of 64 in Unicode', hostname: `${'ü'.repeat(64)}.example`, message: label},
  {name: '254 characters', hostname: `${name253}b`, message: length},
  {name: 'an IPv4 address', hostname: '192.0.2.1', message: address},
  {name: 'an IPv4 address and a dot', hostname: '192.0.2.1.', message: address},
  {name: 'a numeric end', hostname: 'docs.example.1', message: address},
  {name: 'an IPv6 address', hostname: '2001:db8::1', message: shape},
  {name: 'an IPv6 address in brackets', hostname: '[2001:db8::1]', message: shape},
  {name: 'localhost', hostname: 'localhost', message: shape},
  {name: 'a name under localhost', hostname: 'docs.localhost', message: reserved},
  {name: 'a name under local', hostname: 'printer.local', message: reserved},
  {name: 'the same in capitals and with a dot', hostname: 'Printer.LOCAL.', message: reserved},
  {name: 'a reverse name', hostname: '1.2.0.192.in-addr.arpa', message: reserved},
  {name: 'an onion', hostname: 'docs.onion', message: reserved},
  {name: 'a Service of the cluster', hostname: 'web.acme.svc.cluster.local', message: reserved},
  {name: 'the cluster', hostname: 'cluster.local', message: reserved},
];

const projectRef = {name: 'docs'};
const primary = 'main.example.com';
const sources = (n: number, suffix = '.example.com') =>
  Array.from({length: n}, (_, i) => ({from: `n${String(i).padStart(3, '0')}${suffix}`}));
/** 500 names of 253 characters. */
const longSources = sources(500, `.${name253.slice(5)}`);
const row = (name: string, spec: unknown, refusedAt?: string, message?: string): Row => ({
  name,
  spec,
  ...(refusedAt !== undefined && {refusedAt}),
  ...(message !== undefined && {message}),
});
const redirects = (name: string, list: unknown, refusedAt?: string, message?: string): Row =>
  row(name, {projectRef, primary, redirects: list}, refusedAt, message);

export const customDomains: Row[] = [
  ...hostnames.flatMap(({name, hostname, message}) => [
    row(`primary: ${name}`, {projectRef, primary: hostname}, message && 'spec.primary', message),
    redirects(`from: ${name}`, [{from: hostname}], message && 'spec.redirects[0].from', message),
    row(
      `to: ${name}`,
      {projectRef, primary: message ? primary : hostname, redirects: [{from: 'old.example.net', to: hostname}]},
      message && 'spec.redirects[0].to',
      message,
    ),
  ]),
  // By the schema itself.
  row('primary: empty', {projectRef, primary: ''}, 'spec.primary'),
  row('primary: 255 characters', {projectRef, primary: `${name253}b.`}, 'spec.primary'),
  row('primary: missing', {projectRef}, 'spec.primary'),
  row('primary: a number', {projectRef, primary: 1}, 'spec.primary'),
  row('primary: null', {projectRef, primary: null}, 'spec.primary'),
  row('projectRef: missing', {primary}, 'spec.projectRef'),
  row('projectRef: without a name', {projectRef: {}, primary}, 'spec.projectRef.name'),
  row('projectRef: an empty name', {projectRef: {name: ''}, primary}, 'spec.projectRef.name'),
  row('projectRef: a name in capitals', {projectRef: {name: 'Docs'}, primary}, 'spec.projectRef.name'),
  row('projectRef: another namespace', {projectRef: {name: 'other/docs'}, primary}, 'spec.projectRef.name'),
  row('projectRef: a name of 254', {projectRef: {name: 'a'.repeat(254)}, primary}, 'spec.projectRef.name'),
  row('projectRef: a name with dots', {projectRef: {name: 'docs.v1'}, primary}),
  // Redirects.
  redirects('redirects: none', []),
  redirects(
    'redirects: of every status',
    [301, 302, 307, 308].map((status) => ({from: `s${status}.example.com`, status})),
  ),
  ...[200, 300, 303, 304, 404, 0, -301].map((status) =>
    redirects(`redirects: status ${status}`, [{from: 'old.example.com', status}], 'spec.redirects[0].status'),
  ),
  redirects(
    'redirects: a status in quotation marks',
    [{from: 'old.example.com', status: '301'}],
    'spec.redirects[0].status',
  ),
  redirects('redirects: a status and a half', [{from: 'old.example.com', status: 301.5}], 'spec.redirects[0].status'),
  redirects('redirects: no source', [{status: 301}], 'spec.redirects[0].from'),
  redirects('redirects: an object', {from: 'old.example.com'}, 'spec.redirects'),
  redirects('redirects: from the primary', [{from: primary}], 'spec', fromPrimary(primary)),
  redirects(
    'redirects: from the primary in capitals',
    [{from: 'Main.EXAMPLE.com'}],
    'spec',
    fromPrimary('Main.EXAMPLE.com'),
  ),
  redirects('redirects: from the primary with a dot', [{from: `${primary}.`}], 'spec', fromPrimary(`${primary}.`)),
  redirects(
    'redirects: from the primary in two spellings',
    [{from: 'Main.example.com'}, {from: primary}],
    'spec',
    fromPrimary('Main.example.com (and 1 more)'),
  ),
  // A text that is not printable is not repeated: the fixed message counts.
  row(
    'redirects: from a primary with a line break',
    {projectRef, primary: 'a.example\n', redirects: [{from: 'a.example\n'}]},
    'spec',
    fromPrimaryFixed,
  ),
  row(
    'redirects: from a primary with a right-to-left override',
    {projectRef, primary: 'a\u202e.example', redirects: [{from: 'a\u202e.example'}]},
    'spec',
    fromPrimaryFixed,
  ),
  redirects(
    'redirects: from the primary, which has a dot',
    [{from: 'a.example.com'}, {from: primary}],
    'spec',
    fromPrimary(primary),
  ),
  row(
    'redirects: from a primary in capitals with a dot',
    {projectRef, primary: 'MAIN.example.com.', redirects: [{from: 'main.Example.com'}]},
    'spec',
    fromPrimary('main.Example.com'),
  ),
  redirects('redirects: from a name below the primary', [{from: `old.${primary}`}]),
  redirects('redirects: to the primary', [{from: 'old.example.com', to: primary}]),
  redirects('redirects: to the primary in capitals and with a dot', [
    {from: 'old.example.com', to: 'MAIN.Example.com.'},
  ]),
  redirects(
    'redirects: to another',
    [{from: 'old.example.com', to: 'other.example.com'}],
    'spec',
    toOther('old.example.com', 'other.example.com'),
  ),
  redirects(
    'redirects: three to others',
    [
      {from: 'a.example.com', to: primary},
      ...['b', 'c', 'd'].map((n) => ({from: `${n}.example.com`, to: `to-${n}.example.com`})),
    ],
    'spec',
    toOther('b.example.com (and 2 more)', 'to-b.example.com'),
  ),
  redirects(
    'redirects: 500 of the longest names, each to another',
    sources(500, `.${name253.slice(5)}`).map(({from}) => ({from, to: name253})),
    'spec',
    toOther(`n000.${name253.slice(5)} (and 499 more)`, name253),
  ),
  redirects(
    'redirects: one of two to another',
    [
      {from: 'old.example.com', to: primary},
      {from: 'older.example.com', to: 'old.example.com'},
    ],
    'spec',
    toOther('older.example.com', 'old.example.com'),
  ),
  redirects(
    'redirects: to a name below the primary',
    [{from: 'old.example.com', to: `x.${primary}`}],
    'spec',
    toOther('old.example.com', `x.${primary}`),
  ),
  redirects(
    'redirects: from one twice, in another case',
    [{from: 'old.example.com'}, {from: 'OLD.example.com'}],
    'spec',
    twice('OLD.example.com'),
  ),
  redirects(
    'redirects: from one twice, with a dot',
    [{from: 'old.example.com.'}, {from: 'a.example.com'}, {from: 'old.example.com'}],
    'spec',
    twice('old.example.com.'),
  ),
  redirects('redirects: from two that differ', [{from: 'old.example.com'}, {from: 'olds.example.com'}]),
  redirects('redirects: 500', sources(500)),
  redirects('redirects: 500 of the longest names', sources(500, `.${name253.slice(5)}`)),
  redirects('redirects: 500, 50 of them in capitals', [...sources(450), ...sources(50, '.EXAMPLE.net')]),
  redirects('redirects: 500 of the longest names, 50 of them with a dot', [
    ...sources(450, `.${name253.slice(5)}`),
    ...sources(500, `.${name253.slice(5)}.`).slice(450),
  ]),
  redirects('redirects: 51 in capitals', sources(51, '.EXAMPLE.net'), 'spec', unfolded(51, 'n000.EXAMPLE.net')),
  redirects('redirects: 501', sources(501), 'spec.redirects'),
  redirects(
    'redirects: 500, the last one the first again',
    [...sources(499), {from: 'N000.example.com'}],
    'spec',
    twice('N000.example.com'),
  ),
  redirects(
    'redirects: 500 of the longest names, 50 of them repeated',
    [
      ...sources(450, `.${name253.slice(5)}`),
      ...sources(50, `.${name253.slice(5)}`).map(({from}) => ({from: from.toUpperCase()})),
    ],
    'spec',
    twice(longSources[0]!.from.toUpperCase()),
  ),
  redirects(
    'redirects: one in three spellings, none of them in lower case',
    [{from: 'OLD.example.com'}, {from: 'Old.example.com'}, {from: 'old.example.com.'}],
    'spec',
    twice('OLD.example.com'),
  ),
  // The rule about repeated hostnames leaves them to the rule about spellings: its message would cost too much.
  ...[51, 75, 100, 250].map((count) =>
    redirects(
      `redirects: 500 of the longest names, ${count} of them repeated with a dot`,
      [...longSources.slice(0, 500 - count), ...longSources.slice(0, count).map(({from}) => ({from: `${from}.`}))],
      'spec',
      unfolded(count, `${longSources[0]!.from}.`),
    ),
  ),
  // A template leaves null.
  redirects('redirects: null', null),
  redirects('redirects: one with null', [null], 'spec.redirects[0]'),
  redirects('redirects: to null', [{from: 'old.example.com', to: null}]),
  redirects('redirects: a status of null', [{from: 'old.example.com', status: null}]),
  redirects('redirects: from null', [{from: null}], 'spec.redirects[0].from'),
];

const portMessage =
  "must be a port number from 1 to 65535 (without quotation marks), or the name of one of the Service's ports";
const port = (value: unknown, refused?: 'rule' | 'schema'): Row =>
  row(
    `port: ${JSON.stringify(value)}`,
    {serviceRef: {name: 'web', port: value}},
    refused && 'spec.serviceRef.port',
    refused === 'rule' ? portMessage : undefined,
  );
const defaultHost = (value: unknown, refused?: true): Row =>
  row(
    `defaultHost: ${JSON.stringify(value)}`,
    {serviceRef: {name: 'web', port: 80}, defaultHost: value},
    refused && 'spec.defaultHost',
  );

export const projects: Row[] = [
  ...[1, 80, 65_535, 'http', 'web-1', '8080x', 'a'.repeat(15)].map((value) => port(value)),
  ...[0, -1, 65_536, '', '80', 'HTTP', 'web_1', '-web', 'web-', 'a--b', 'a'.repeat(16)].map((value) =>
    port(value, 'rule'),
  ),
  ...[80.5, true, null].map((value) => port(value, 'schema')),
  ...['Serve', 'RedirectToPrimary', 'Disabled'].map((value) => defaultHost(value)),
  ...['serve', 'Off', 'Redirect', '', false].map((value) => defaultHost(value, true)),
  defaultHost(null),
  row('defaultHost: left out', {serviceRef: {name: 'web', port: 80}}),
  row('serviceRef: missing', {}, 'spec.serviceRef'),
  row('serviceRef: without a port', {serviceRef: {name: 'web'}}, 'spec.serviceRef.port'),
  row('serviceRef: without a name', {serviceRef: {port: 80}}, 'spec.serviceRef.name'),
  row('serviceRef: an empty name', {serviceRef: {name: '', port: 80}}, 'spec.serviceRef.name'),
  row('serviceRef: a name with a dot', {serviceRef: {name: 'a.b', port: 80}}, 'spec.serviceRef.name'),
  row('serviceRef: a name of 63', {serviceRef: {name: 'a'.repeat(63), port: 80}}),
  row('serviceRef: a name of 64', {serviceRef: {name: 'a'.repeat(64), port: 80}}, 'spec.serviceRef.name'),
  row('serviceRef: a name in capitals', {serviceRef: {name: 'Web', port: 80}}, 'spec.serviceRef.name'),
];

const limits = {requestsPerMinute: 60, requestsPerDay: 1000};
const domainsOf = (allowed: unknown, maxHostnamesPerProject: unknown) => ({allowed, maxHostnamesPerProject});
const perDayFixed = 'requestsPerDay must be at least requestsPerMinute: a lower limit would be used up within a minute';
const perDay =
  'requestsPerDay (59) must be at least requestsPerMinute (60): a lower limit would be used up within a minute. ' +
  takeOver('one of them');
const inStep = (allowed: unknown, most: unknown) =>
  `maxHostnamesPerProject (${most}) must be at least 1 if custom domains are allowed, and 0 otherwise, and allowed is ${allowed}. ` +
  takeOver('one of them');
const rates: [string, unknown, string?, string?][] = [
  ['60 and 1000', limits],
  ['one of each', {requestsPerMinute: 1, requestsPerDay: 1}],
  ['as many as there are', {requestsPerMinute: 2_147_483_647, requestsPerDay: 2_147_483_647}],
  ['fewer in a day than in a minute', {requestsPerMinute: 60, requestsPerDay: 59}, '', perDay],
  ['none in a minute', {requestsPerMinute: 0, requestsPerDay: 1}, '.requestsPerMinute'],
  ['fewer than none', {requestsPerMinute: 1, requestsPerDay: -1}, '.requestsPerDay'],
  ['more than an int32', {requestsPerMinute: 1, requestsPerDay: 2_147_483_648}, '.requestsPerDay'],
  ['half a request', {requestsPerMinute: 0.5, requestsPerDay: 1}, '.requestsPerMinute'],
  ['in quotation marks', {requestsPerMinute: '60', requestsPerDay: 1000}, '.requestsPerMinute'],
  ['no day', {requestsPerMinute: 60}, '.requestsPerDay'],
  ['no minute', {requestsPerDay: 60}, '.requestsPerMinute'],
  ['a number', 60, ''],
];

export const plans: Row[] = [
  ...rates.map(([name, rateLimit, at, message]) =>
    row(
      `rateLimit: ${name}`,
      {rateLimit, customDomains: domainsOf(true, 10)},
      at === undefined ? undefined : `spec.rateLimit${at}`,
      message,
    ),
  ),
  row('rateLimit: left out', {customDomains: domainsOf(true, 10)}, 'spec.rateLimit'),
  ...[
    [false, 0],
    [true, 1],
    [true, 501],
  ].map(([allowed, most]) =>
    row(`customDomains: ${allowed}, ${most}`, {rateLimit: limits, customDomains: domainsOf(allowed, most)}),
  ),
  ...[
    [false, 1],
    [true, 0],
  ].map(([allowed, most]) =>
    row(
      `customDomains: ${allowed}, ${most}`,
      {rateLimit: limits, customDomains: domainsOf(allowed, most)},
      'spec.customDomains',
      inStep(allowed, most),
    ),
  ),
  ...[-1, 502, '10', 1.5].map((most) =>
    row(
      `customDomains: true, ${JSON.stringify(most)}`,
      {rateLimit: limits, customDomains: domainsOf(true, most)},
      'spec.customDomains.maxHostnamesPerProject',
    ),
  ),
  row('customDomains: a word', {rateLimit: limits, customDomains: domainsOf('yes', 1)}, 'spec.customDomains.allowed'),
  row(
    'customDomains: without a number',
    {rateLimit: limits, customDomains: {allowed: true}},
    'spec.customDomains.maxHostnamesPerProject',
  ),
  row('customDomains: left out', {rateLimit: limits}, 'spec.customDomains'),
  ...[0, 1, 1_000_000, null].map((maxProjects) =>
    row(`maxProjects: ${maxProjects}`, {rateLimit: limits, customDomains: domainsOf(false, 0), maxProjects}),
  ),
  ...[-1, 1_000_001, '10', 1.5].map((maxProjects) =>
    row(
      `maxProjects: ${JSON.stringify(maxProjects)}`,
      {rateLimit: limits, customDomains: domainsOf(false, 0), maxProjects},
      'spec.maxProjects',
    ),
  ),
];

export const domainClaims: Row[] = [
  row('an account', {tenant: {account: 'acme'}}),
  row('a namespace', {tenant: {namespaceUID: '5c3e0b9e-2f0c-4c53-9f6e-0a8b8f6f4b11'}, proof: 'DNS'}),
  row("the platform's word", {tenant: {account: 'acme'}, proof: 'Platform'}),
  row('nobody', {tenant: {}}, 'spec.tenant', 'name either the account or the namespaceUID'),
  row(
    'two',
    {tenant: {account: 'acme', namespaceUID: 'u'}},
    'spec.tenant',
    `name either the account (acme) or the namespaceUID (u), not both. ${takeOver('one of them')}`,
  ),
  row(
    'two, one with an escape character',
    {tenant: {account: 'acme', namespaceUID: '\u001b[2J'}},
    'spec.tenant',
    'name either the account or the namespaceUID',
  ),
  row('a proof of null', {tenant: {account: 'acme'}, proof: null}),
  row('no tenant', {proof: 'DNS'}, 'spec.tenant'),
  row('an account in capitals', {tenant: {account: 'Acme'}}, 'spec.tenant.account'),
  row('another proof', {tenant: {account: 'acme'}, proof: 'Word'}, 'spec.proof'),
];

export const accounts: Row[] = [
  row('planRef alone', {planRef: {name: 'pro'}}),
  ...rates.map(([name, rateLimit, at, message]) =>
    row(
      `rateLimit: ${name}`,
      {planRef: {name: 'pro'}, rateLimit},
      at === undefined ? undefined : `spec.rateLimit${at}`,
      message,
    ),
  ),
  row('rateLimit: null', {planRef: {name: 'pro'}, rateLimit: null}),
  row('planRef: missing', {rateLimit: limits}, 'spec.planRef'),
  row('planRef: without a name', {planRef: {}}, 'spec.planRef.name'),
  row('planRef: an empty name', {planRef: {name: ''}}, 'spec.planRef.name'),
  row('planRef: a name in capitals', {planRef: {name: 'Pro'}}, 'spec.planRef.name'),
  row('planRef: a word', {planRef: 'pro'}, 'spec.planRef'),
];

const [newer, older] = ['a'.repeat(64), '0123456789abcdef'.repeat(4)];
const hashes = [{sha256: newer}];
const scopes = ['domains:read'];
const soon = '2027-01-31T00:00:00Z';
const notAHash =
  'must be the SHA-256 of the whole token: 64 digits and lower-case letters a to f. Never write the token itself here';
const notATime = 'must be a time in whole seconds with its zone, such as 2027-01-31T00:00:00Z (RFC 3339)';
const notAScope =
  'must be two words with a colon between them, such as domains:read. Each word has at most 31 lower-case letters, digits and hyphens';
const needsEnd = 'the second hash is of the older token and needs an expireTime: list the newer token first';
const apiKeyRow = (name: string, change: object, refusedAt?: string, message?: string): Row =>
  row(name, {hashes, scopes, ...change}, refusedAt, message);
const hashOf = (name: string, sha256: unknown, message?: string): Row =>
  apiKeyRow(`sha256: ${name}`, {hashes: [{sha256}]}, 'spec.hashes[0].sha256', message);

export const apiKeys: Row[] = [
  apiKeyRow('one hash and one scope', {}),
  apiKeyRow('an end, and a cap of its own', {expireTime: soon, rateLimit: limits}),
  apiKeyRow('hashes: one with an end', {hashes: [{sha256: newer, expireTime: soon}]}),
  apiKeyRow('hashes: two, the older one with an end', {hashes: [{sha256: newer}, {sha256: older, expireTime: soon}]}),
  apiKeyRow('hashes: two with an end', {
    hashes: [
      {sha256: newer, expireTime: soon},
      {sha256: older, expireTime: soon},
    ],
  }),
  apiKeyRow('an end and a cap of null', {expireTime: null, rateLimit: null}),
  apiKeyRow('hashes: one with an end of null', {hashes: [{sha256: newer, expireTime: null}]}),
  apiKeyRow(
    'hashes: the older one with an end of null',
    {hashes: [{sha256: newer}, {sha256: older, expireTime: null}]},
    'spec.hashes',
    needsEnd,
  ),
  apiKeyRow('hashes: none', {hashes: []}, 'spec.hashes'),
  apiKeyRow('hashes: left out', {hashes: undefined}, 'spec.hashes'),
  apiKeyRow(
    'hashes: three',
    {hashes: [newer, older, 'b'.repeat(64)].map((sha256) => ({sha256, expireTime: soon}))},
    'spec.hashes',
  ),
  apiKeyRow(
    'hashes: the older one without an end',
    {hashes: [{sha256: newer}, {sha256: older}]},
    'spec.hashes',
    needsEnd,
  ),
  apiKeyRow(
    'hashes: only the newer one with an end',
    {hashes: [{sha256: newer, expireTime: soon}, {sha256: older}]},
    'spec.hashes',
    needsEnd,
  ),
  apiKeyRow(
    'hashes: the same twice',
    {hashes: [{sha256: newer}, {sha256: newer, expireTime: soon}]},
    'spec.hashes',
    'the two hashes are the same: remove one of them',
  ),
  apiKeyRow('hashes: without a hash', {hashes: [{expireTime: soon}]}, 'spec.hashes[0].sha256'),
  apiKeyRow('hashes: a text', {hashes: newer}, 'spec.hashes'),
  hashOf('one digit too few', newer.slice(1), notAHash),
  hashOf('one digit too many', `${newer}a`),
  hashOf('in capitals', newer.toUpperCase(), notAHash),
  hashOf('in base64', `${'a'.repeat(43)}=`, notAHash),
  hashOf('with a line break', `${newer.slice(1)}\n`, notAHash),
  hashOf('the token itself', `dp_a.b_${'x'.repeat(49)}`, notAHash),
  hashOf('empty', ''),
  hashOf('a number', 1),
  ...['domains:write', 'keys:write', 'invoices:read', 'a:b', 'a-1:b-2', `${'a'.repeat(31)}:${'b'.repeat(31)}`].map(
    (s) => apiKeyRow(`scopes: ${s}`, {scopes: [s]}),
  ),
  apiKeyRow('scopes: 32', {scopes: Array.from({length: 32}, (_, i) => `word:w${i}`)}),
  ...[
    'domains',
    'domains:',
    ':read',
    'domains:read:all',
    'Domains:read',
    'domains:*',
    'domains read',
    'a/b:c',
    '1a:b',
    `${'a'.repeat(32)}:b`,
  ].map((s) => apiKeyRow(`scopes: ${s}`, {scopes: ['domains:read', s]}, 'spec.scopes[1]', notAScope)),
  apiKeyRow('scopes: an empty one', {scopes: ['']}, 'spec.scopes[0]'),
  apiKeyRow('scopes: one that is too long', {scopes: [`a:${'b'.repeat(62)}`]}, 'spec.scopes[0]'),
  apiKeyRow('scopes: none', {scopes: []}, 'spec.scopes'),
  apiKeyRow('scopes: left out', {scopes: undefined}, 'spec.scopes'),
  apiKeyRow('scopes: 33', {scopes: Array.from({length: 33}, (_, i) => `word:w${i}`)}, 'spec.scopes'),
  apiKeyRow(
    'scopes: one twice',
    {scopes: ['a:b', 'domains:read', 'a:b']},
    'spec.scopes',
    'a scope is listed twice: remove the repeated one',
  ),
  ...['2027-01-31T00:00:00+01:00', '2028-02-29T23:59:59Z', '1970-01-01T00:00:00Z'].map((t) =>
    apiKeyRow(`expireTime: ${t}`, {expireTime: t}),
  ),
  ...[
    '2027-01-31',
    '2027-01-31T00:00:00',
    '2027-01-31T00:00Z',
    '2027-01-31T00:00:00.5Z',
    '2027-01-31 00:00:00Z',
    '2027-02-29T00:00:00Z',
    '2027-01-31T24:00:00Z',
    '2027-13-01T00:00:00Z',
    '90d',
    'never',
    '1801353600',
  ].flatMap((t) => [
    apiKeyRow(`expireTime: ${t}`, {expireTime: t}, 'spec.expireTime', notATime),
    apiKeyRow(
      `expireTime of a hash: ${t}`,
      {hashes: [{sha256: newer, expireTime: t}]},
      'spec.hashes[0].expireTime',
      notATime,
    ),
  ]),
  apiKeyRow('expireTime: empty', {expireTime: ''}, 'spec.expireTime'),
  apiKeyRow('expireTime: a number', {expireTime: 1_801_353_600}, 'spec.expireTime'),
  ...rates.map(([name, rateLimit, at, message]) =>
    apiKeyRow(
      `rateLimit: ${name}`,
      {rateLimit},
      at === undefined ? undefined : `spec.rateLimit${at}`,
      message && perDayFixed,
    ),
  ),
];
