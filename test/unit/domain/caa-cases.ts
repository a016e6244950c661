/**
 * What the CA makes of CAA records, case by case. From the grammar of RFC 8659 (4), RFC 8657 (3, 4) and RFC 9495 (4), and from
 * what Let's Encrypt's CA does where these leave room (Boulder, va/caa.go; facts, no text of theirs). Everything that is looser
 * than Boulder is a bug; what is stricter says why.
 *
 * The CA is `ca1.example.net`, its account `https://ca1.example.net/acct/1`, the method http-01, the hostname no wildcard:
 * Doorplate orders none, so `issuewild` never matters.
 */

/** Presentation form, `0 issue "ca1.example.net"`, each character to its UTF-8 octets; or RDATA as hexadecimal octets. */
export type CaaText = string | {rdata: string};

export interface CaaCase {
  name: string;
  records: CaaText[];
  /** Unknown: the records could not be read, so nothing is ordered either. */
  verdict: 'Allowed' | 'Blocked' | 'Unknown';
  /** Why this blocks what Boulder would let pass. */
  stricter?: string;
}

type Row = [name: string, records: CaaText | CaaText[], verdict: CaaCase['verdict'], stricter?: string];

const rows = (group: string, table: Row[]): CaaCase[] =>
  table.map(([name, records, verdict, stricter]) => ({
    name: `${group}: ${name}`,
    records: [records].flat(),
    verdict,
    ...(stricter !== undefined && {stricter}),
  }));

const account = 'https://ca1.example.net/acct/1';
/** The value of one `issue` property. */
const issue = (value: string) => `0 issue "${value}"`;
/** One with parameters for our CA. */
const ours = (parameters: string) => issue(`ca1.example.net;${parameters}`);

const issuers = rows('The issuer', [
  ['is our CA (RFC 8659, 4.2)', issue('ca1.example.net'), 'Allowed'],
  ['is another CA', issue('ca2.example.org'), 'Blocked'],
  ['is nobody: a semicolon (RFC 8659, 4.2)', issue(';'), 'Blocked'],
  ['is nobody: nothing at all', issue(''), 'Blocked'],
  ['is nobody: blanks', issue('  \t '), 'Blocked'],
  ['is nobody, with a parameter', issue('; account=230123'), 'Blocked'],
  ['is malformed (RFC 8659, 4.2)', issue('%%%%%'), 'Blocked'],
  ['is ours in capitals: the CA compares exactly', issue('CA1.EXAMPLE.NET'), 'Blocked'],
  ['is ours with one capital', issue('Ca1.example.net'), 'Blocked'],
  ['is ours with a dot at its end', issue('ca1.example.net.'), 'Blocked'],
  ['is ours with a dot before it', issue('.ca1.example.net'), 'Blocked'],
  ['is a name below ours', issue('www.ca1.example.net'), 'Blocked'],
  ['is a name above ours', issue('example.net'), 'Blocked'],
  ['only begins like ours', issue('ca1.example.net.evil.example'), 'Blocked'],
  ['only ends like ours', issue('evilca1.example.net'), 'Blocked'],
  ['is two names', issue('ca1.example.net ca2.example.org'), 'Blocked'],
  ['is two names with a comma between', issue('ca1.example.net,ca2.example.org'), 'Blocked'],
  ['is a URL', issue('https://ca1.example.net'), 'Blocked'],
  ['is in quotes', issue('"ca1.example.net"'), 'Blocked'],
  ['has a blank within', issue('ca1 .example.net'), 'Blocked'],
  ['has an underscore', issue('ca1_example.net'), 'Blocked'],
  ['is an asterisk', issue('*'), 'Blocked'],
  ['is in fullwidth letters', issue('ｃa1.example.net'), 'Blocked'],
  ['has a soft hyphen within', issue('ca1.exam\u00adple.net'), 'Blocked'],
  ['has a NUL at its end', issue('ca1.example.net\0'), 'Blocked'],
  ['has a NUL within', issue('ca1.example\0.net'), 'Blocked'],
]);

const blanks = rows('Blanks', [
  ['before the issuer', issue('  ca1.example.net'), 'Allowed'],
  ['after the issuer', issue('ca1.example.net  '), 'Allowed'],
  ['tabs around the issuer', issue('\tca1.example.net\t'), 'Allowed'],
  ['before the semicolon', issue('ca1.example.net ; account=1'), 'Allowed'],
  ['around the equals sign', ours(' account \t=\t 1'), 'Allowed'],
  ['after a value', ours(' account=1 \t'), 'Allowed'],
  ['of all kinds that the grammar has', issue(' \tca1.example.net\t ;\t a\t= 1 ; b =\t2 '), 'Allowed'],
  ['that are none: a line feed after the issuer', issue('ca1.example.net\n'), 'Blocked'],
  ['that are none: a carriage return after the issuer', issue('ca1.example.net\r'), 'Blocked'],
  ['that are none: a vertical tab before the issuer', issue('\vca1.example.net'), 'Blocked'],
  ['that are none: a form feed before the issuer', issue('\fca1.example.net'), 'Blocked'],
  ['that are none: a no-break space after the issuer', issue('ca1.example.net\u00a0'), 'Blocked'],
  ['that are none: a no-break space before the issuer', issue('\u00a0ca1.example.net'), 'Blocked'],
  ['that are none: an em space after the issuer', issue('ca1.example.net\u2003'), 'Blocked'],
  ['that are none: an ideographic space before the issuer', issue('\u3000ca1.example.net'), 'Blocked'],
  ['that are none: a line separator after the issuer', issue('ca1.example.net\u2028'), 'Blocked'],
  ['that are none: a byte order mark before the issuer', issue('\ufeffca1.example.net'), 'Blocked'],
  ['that are none: a zero width space after the issuer', issue('ca1.example.net\u200b'), 'Blocked'],
  ['that are none: the octet A0 after the issuer', {rdata: `0005${hex('issueca1.example.net')}a0`}, 'Blocked'],
  ['that are none: a no-break space before a tag', ours('\u00a0account=1'), 'Blocked'],
  ['that are none: a no-break space before the equals sign', ours('account\u00a0=1'), 'Blocked'],
  ['that are none: a no-break space before a value', ours('account=\u00a01'), 'Blocked'],
  ['that are none: a no-break space after a value', ours('account=1\u00a0'), 'Blocked'],
  ['that are none: a line feed before a value', ours('account=\n1'), 'Blocked'],
  ['that are none: a line feed after a value', ours('account=1\n'), 'Blocked'],
  ['that are none: a no-break space as the one parameter', ours('\u00a0'), 'Blocked'],
]);

const parameters = rows('Parameters', [
  ['an unknown one (RFC 8659, 4.2)', ours(' account=230123'), 'Allowed'],
  ['two', ours(' account=230123; policy=ev'), 'Allowed'],
  ['without a blank', ours('account=230123;policy=ev'), 'Allowed'],
  ['none behind the semicolon', issue('ca1.example.net;'), 'Allowed'],
  ['a blank behind the semicolon', issue('ca1.example.net; '), 'Allowed'],
  ['blanks and tabs behind the semicolon', issue('ca1.example.net;\t \t'), 'Allowed'],
  ['two semicolons', issue('ca1.example.net;;'), 'Blocked'],
  ['two semicolons with blanks', issue('ca1.example.net; ; '), 'Blocked'],
  ['an empty one before one', ours('; account=1'), 'Blocked'],
  ['an empty one between two', ours('account=1;;policy=ev'), 'Blocked'],
  ['a semicolon at the end', ours('account=1;'), 'Blocked'],
  ['a semicolon and a blank at the end', ours('account=1; '), 'Blocked'],
  ['accounturi for us and a semicolon at the end', ours(` accounturi=${account};`), 'Blocked'],
  ['validationmethods with ours and a semicolon at the end', ours(' validationmethods=http-01;'), 'Blocked'],
  ['malformed (RFC 8659, 4.2)', ours(' %%%%%'), 'Blocked'],
  ['a tag alone', ours(' account'), 'Blocked'],
  ['a tag alone behind a good one', ours(' account=1; policy'), 'Blocked'],
  ['an empty value', ours(' account='), 'Allowed'],
  ['an empty value of blanks', ours(' account= \t'), 'Allowed'],
  ['no tag: Boulder lets it pass', ours(' =1'), 'Allowed'],
  ['an equals sign alone: Boulder lets it pass', ours('='), 'Allowed'],
  ['a value with equals signs', ours(' account=a=b=='), 'Allowed'],
  ['a value with a blank', ours(' account=1 2'), 'Blocked'],
  ['a value with a tab', ours(' account=1\t2'), 'Blocked'],
  ['two without the semicolon between', ours(' account=1 policy=ev'), 'Blocked'],
  [
    'a value with every printable character of the grammar',
    ours(' a=!"#$%&\'()*+,-./0123456789:<=>?@AZ[\\]^_`az{|}~'),
    'Allowed',
  ],
  ['a value with DEL', ours(' a=1\x7f'), 'Blocked'],
  ['a value with NUL', ours(' a=1\0'), 'Blocked'],
  ['a value with a letter beyond ASCII', ours(' a=ü'), 'Blocked'],
  ['a value with an octet that is no UTF-8', {rdata: `0005${hex('issueca1.example.net;a=')}ff`}, 'Blocked'],
  ['a tag of a digit', ours(' 1=2'), 'Allowed'],
  ['a tag in capitals', ours(' ACCOUNT=1'), 'Allowed'],
  ['a tag with a hyphen, which the RFC allows and Boulder does not', ours(' a-b=1'), 'Blocked'],
  ['a tag that begins with a hyphen', ours(' -a=1'), 'Blocked'],
  ['a tag with an underscore', ours(' a_b=1'), 'Blocked'],
  ['a tag with a dot', ours(' a.b=1'), 'Blocked'],
  ['a tag with a blank within', ours(' a b=1'), 'Blocked'],
  ['a tag with a letter beyond ASCII', ours(' ü=1'), 'Blocked'],
  ['a tag with the Kelvin sign', ours(' \u212a=1'), 'Blocked'],
  ['a tag with the long s', ours(' \u017f=1'), 'Blocked'],
  ['a tag with a quote', ours(' "a=1'), 'Blocked'],
  ['an unknown one twice', ours(' account=1; account=1'), 'Allowed'],
  ['an unknown one twice with two values', ours(' account=1; account=2'), 'Allowed'],
  ['an unknown one three times, in other letters', ours(' a=1; A=1; a=2'), 'Allowed'],
  ['a hundred', ours(Array.from({length: 100}, (_, i) => ` p${i}=${i}`).join(';')), 'Allowed'],
  [
    'a hundred, the last one malformed',
    ours(Array.from({length: 100}, (_, i) => (i < 99 ? ` p${i}=${i}` : ' p')).join(';')),
    'Blocked',
  ],
  ['a comma for a semicolon', issue('ca1.example.net, account=1'), 'Blocked'],
  [
    'a malformed one of another CA beside our record',
    [issue('ca2.example.org; %%%%%'), issue('ca1.example.net')],
    'Allowed',
  ],
  ['a malformed one of ours beside another of ours', [ours(' %%%%%'), issue('ca1.example.net')], 'Allowed'],
]);

const methods = rows('validationmethods', [
  ['ours (RFC 8657, 4)', ours(' validationmethods=http-01'), 'Allowed'],
  ['ours first', ours(' validationmethods=http-01,dns-01'), 'Allowed'],
  ['ours last', ours(' validationmethods=dns-01,http-01'), 'Allowed'],
  ['ours among many', ours(' validationmethods=dns-01,tls-alpn-01,http-01,dns-account-01'), 'Allowed'],
  ['another (RFC 8657, 4)', ours(' validationmethods=dns-01'), 'Blocked'],
  ['others', ours(' validationmethods=dns-01,tls-alpn-01'), 'Blocked'],
  ['unknown ones and ours', ours(' validationmethods=carrier-pigeon-01,http-01'), 'Allowed'],
  ['unknown ones', ours(' validationmethods=carrier-pigeon-01'), 'Blocked'],
  ['one of the CA’s own (RFC 8657, 4: ca- and a name)', ours(' validationmethods=ca-http-01'), 'Blocked'],
  ['ours in capitals', ours(' validationmethods=HTTP-01'), 'Blocked'],
  ['ours with one capital', ours(' validationmethods=Http-01'), 'Blocked'],
  ['ours with more behind it', ours(' validationmethods=http-010'), 'Blocked'],
  ['ours without its number', ours(' validationmethods=http'), 'Blocked'],
  ['empty', ours(' validationmethods='), 'Blocked'],
  ['a comma', ours(' validationmethods=,'), 'Blocked'],
  ['a comma before ours', ours(' validationmethods=,http-01'), 'Blocked'],
  ['a comma behind ours: what stands behind it is not read', ours(' validationmethods=http-01,'), 'Allowed'],
  ['two commas before ours', ours(' validationmethods=dns-01,,http-01'), 'Blocked'],
  ['a malformed one before ours', ours(' validationmethods=dns_01,http-01'), 'Blocked'],
  ['a malformed one behind ours: it is not read', ours(' validationmethods=http-01,dns_01'), 'Allowed'],
  ['a blank behind the comma', ours(' validationmethods=dns-01, http-01'), 'Blocked'],
  ['a blank before the comma', ours(' validationmethods=http-01 ,dns-01'), 'Blocked'],
  ['a no-break space behind the comma', ours(' validationmethods=dns-01,\u00a0http-01'), 'Blocked'],
  ['in quotes', ours(' validationmethods="http-01"'), 'Blocked'],
  ['a semicolon for the comma', ours(' validationmethods=dns-01;http-01'), 'Blocked'],
  ['blanks around the equals sign', ours(' validationmethods = http-01 '), 'Allowed'],
  ['twice, the same', ours(' validationmethods=http-01; validationmethods=http-01'), 'Blocked'],
  ['twice, ours second', ours(' validationmethods=dns-01; validationmethods=http-01'), 'Blocked'],
  ['twice, one of them empty', ours(' validationmethods=; validationmethods=http-01'), 'Blocked'],
  ['in capitals, which is another parameter, with another method', ours(' ValidationMethods=dns-01'), 'Allowed'],
  ['once, and in capitals', ours(' validationmethods=http-01; VALIDATIONMETHODS=dns-01'), 'Allowed'],
  ['in the singular, which is another parameter', ours(' validationmethod=dns-01'), 'Allowed'],
  [
    'another in one record, ours in the next',
    [ours(' validationmethods=dns-01'), ours(' validationmethods=http-01')],
    'Allowed',
  ],
  ['another in one record, any in the next', [ours(' validationmethods=dns-01'), issue('ca1.example.net')], 'Allowed'],
  ['ours for another CA', issue('ca2.example.org; validationmethods=http-01'), 'Blocked'],
]);

const accounts = rows('accounturi', [
  ['ours (RFC 8657, 3)', ours(` accounturi=${account}`), 'Allowed'],
  ['another', ours(' accounturi=https://ca1.example.net/acct/2'), 'Blocked'],
  ['ours with a digit more', ours(` accounturi=${account}0`), 'Blocked'],
  ['ours with a slash at its end', ours(` accounturi=${account}/`), 'Blocked'],
  ['ours by http', ours(' accounturi=http://ca1.example.net/acct/1'), 'Blocked'],
  ['ours in capitals', ours(` accounturi=${account.toUpperCase()}`), 'Blocked'],
  ['ours with the port that is meant anyway', ours(' accounturi=https://ca1.example.net:443/acct/1'), 'Blocked'],
  ['ours with a letter percent-encoded', ours(' accounturi=https://ca1.example.net/%61cct/1'), 'Blocked'],
  ['ours by its number', ours(' accounturi=1'), 'Blocked'],
  ['no URI', ours(' accounturi=%zz'), 'Blocked'],
  ['empty', ours(' accounturi='), 'Blocked'],
  ['in quotes', ours(` accounturi="${account}"`), 'Blocked'],
  ['blanks around it', ours(` accounturi = ${account} `), 'Allowed'],
  ['twice, the same', ours(` accounturi=${account}; accounturi=${account}`), 'Blocked'],
  ['twice, ours second', ours(` accounturi=https://ca1.example.net/acct/2; accounturi=${account}`), 'Blocked'],
  ['twice, one of them empty', ours(` accounturi=; accounturi=${account}`), 'Blocked'],
  [
    'in capitals, which is another parameter, with another account',
    ours(' AccountURI=https://ca1.example.net/acct/2'),
    'Allowed',
  ],
  ['once, and in capitals', ours(` accounturi=${account}; ACCOUNTURI=x`), 'Allowed'],
  [
    'another in one record, ours in the next',
    [ours(' accounturi=https://ca1.example.net/acct/2'), ours(` accounturi=${account}`)],
    'Allowed',
  ],
  [
    'another in one record, any in the next',
    [ours(' accounturi=https://ca1.example.net/acct/2'), issue('ca1.example.net')],
    'Allowed',
  ],
  ['ours and our method', ours(` accounturi=${account}; validationmethods=http-01`), 'Allowed'],
  ['ours and our method, the other way round', ours(` validationmethods=http-01; accounturi=${account}`), 'Allowed'],
  ['ours, by another method', ours(` accounturi=${account}; validationmethods=dns-01`), 'Blocked'],
  ['another, by our method', ours(' accounturi=https://ca1.example.net/acct/2; validationmethods=http-01'), 'Blocked'],
  [
    'ours by another method, and another by ours',
    [ours(` accounturi=${account}; validationmethods=dns-01`), ours(' accounturi=x; validationmethods=http-01')],
    'Blocked',
  ],
  ['ours for another CA', issue(`ca2.example.org; accounturi=${account}`), 'Blocked'],
  ['ours, beside an unknown parameter', ours(` policy=ev; accounturi=${account}`), 'Allowed'],
  ['ours, beside a malformed parameter', ours(` accounturi=${account}; policy`), 'Blocked'],
  [
    'ours under a name of the CA’s from before',
    ours(' accounturi=https://old.ca1.example.net/reg/1'),
    'Blocked',
    'Boulder takes the URIs of its former API, too; which those are only the CA knows.',
  ],
]);

const properties = rows('Properties', [
  ['no issue: iodef alone', '0 iodef "mailto:security@example.com"', 'Allowed'],
  ['no issue: issuewild for nobody (RFC 8659, 4.3)', '0 issuewild ";"', 'Allowed'],
  ['no issue: issuewild for another CA', '0 issuewild "ca2.example.org"', 'Allowed'],
  ['no issue: issuemail for nobody (RFC 9495, 4)', '0 issuemail ";"', 'Allowed'],
  ['no issue: issuevmc for nobody', '0 issuevmc ";"', 'Allowed'],
  ['no issue: contactemail', '0 contactemail "security@example.com"', 'Allowed'],
  [
    'issuewild for us does not open what issue closes',
    ['0 issuewild "ca1.example.net"', issue('ca2.example.org')],
    'Blocked',
  ],
  [
    'issuewild for another does not close what issue opens',
    ['0 issuewild "ca2.example.org"', issue('ca1.example.net')],
    'Allowed',
  ],
  ['issuewild malformed beside ours', ['0 issuewild "%%%%%"', issue('ca1.example.net')], 'Allowed'],
  [
    'issuemail for us does not open what issue closes',
    ['0 issuemail "ca1.example.net"', issue('ca2.example.org')],
    'Blocked',
  ],
  ['issue in capitals, for another CA', '0 ISSUE "ca2.example.org"', 'Blocked'],
  ['issue in mixed letters, for another CA', '0 IsSuE "ca2.example.org"', 'Blocked'],
  ['issue in capitals, for us', '0 ISSUE "ca1.example.net"', 'Allowed'],
  [
    'issue in capitals for another, in small letters for us',
    ['0 ISSUE "ca2.example.org"', issue('ca1.example.net')],
    'Allowed',
  ],
  ['our CA among others (RFC 8659, 4.2)', [issue('ca2.example.org'), issue('ca1.example.net')], 'Allowed'],
  ['nobody, and our CA: what allows more counts', [issue(';'), issue('ca1.example.net')], 'Allowed'],
  ['two others', [issue('ca2.example.org'), issue('ca3.example.com')], 'Blocked'],
  ['our record twice', [issue('ca1.example.net'), issue('ca1.example.net')], 'Allowed'],
  ['an unknown one', '0 tbs "Unknown"', 'Allowed'],
  ['an unknown one beside ours', ['0 tbs "Unknown"', issue('ca1.example.net')], 'Allowed'],
  ['an unknown one beside another’s', ['0 tbs "Unknown"', issue('ca2.example.org')], 'Blocked'],
  ['a tag that only begins with issue', '0 issuer "ca2.example.org"', 'Allowed'],
  ['a tag with a dot behind issue is another', '0 issue. "ca2.example.org"', 'Allowed'],
  [
    'a tag with a blank behind issue is another',
    ['0 tbs "x"', {rdata: `0006${hex('issue ')}${hex('ca2.example.org')}`}],
    'Allowed',
  ],
  [
    'a tag with the issuer in it opens nothing',
    [issue('ca2.example.org'), {rdata: `0015${hex('issue ca1.example.net')}`}],
    'Blocked',
  ],
]);

const critical = rows('Critical', [
  ['an unknown property (RFC 8659, 4.5)', ['128 tbs "Unknown"', issue('ca1.example.net')], 'Blocked'],
  ['an unknown property alone', '128 tbs "Unknown"', 'Blocked'],
  ['an unknown property after ours', [issue('ca1.example.net'), '128 tbs "Unknown"'], 'Blocked'],
  ['an unknown property without a value', '128 tbs ""', 'Blocked'],
  ['an unknown property with another flag, too', '130 tbs "Unknown"', 'Blocked'],
  ['an unknown property with all flags', '255 tbs "Unknown"', 'Blocked'],
  ['by the lowest bit, which many take for the flag', '1 tbs "Unknown"', 'Blocked'],
  ['by the lowest bit and another', '9 tbs "Unknown"', 'Blocked'],
  ['by both bits', '129 tbs "Unknown"', 'Blocked'],
  ['other flags than these are not', '126 tbs "Unknown"', 'Allowed'],
  ['the second lowest bit is not', '2 tbs "Unknown"', 'Allowed'],
  ['the second highest bit is not', '64 tbs "Unknown"', 'Allowed'],
  ['issue for us', '128 issue "ca1.example.net"', 'Allowed'],
  ['issue for us, by the lowest bit', '1 issue "ca1.example.net"', 'Allowed'],
  ['issue for another', '128 issue "ca2.example.org"', 'Blocked'],
  [
    'issue for another by the lowest bit, and for us',
    ['1 issue "ca2.example.org"', '1 issue "ca1.example.net"'],
    'Allowed',
  ],
  ['issue in capitals, for us', '128 ISSUE "ca1.example.net"', 'Allowed'],
  ['issuewild for another', '128 issuewild "ca2.example.org"', 'Allowed'],
  ['iodef', '128 iodef "mailto:security@example.com"', 'Allowed'],
  ['issuemail (RFC 9495, 4)', '128 issuemail "ca2.example.org"', 'Allowed'],
  ['issuemail for nobody, beside ours', ['128 issuemail ";"', issue('ca1.example.net')], 'Allowed'],
  ['issuemail in capitals', '128 IssueMail ";"', 'Allowed'],
  ['issuemail by the lowest bit', '1 issuemail ";"', 'Allowed'],
  ['issuevmc', '128 issuevmc ";"', 'Allowed'],
  ['issuevmc, beside another CA', ['128 issuevmc ";"', issue('ca2.example.org')], 'Blocked'],
  ['contactemail, which Boulder does not know', '128 contactemail "security@example.com"', 'Blocked'],
  ['contactphone, which Boulder does not know', '128 contactphone "+1 555 0100"', 'Blocked'],
  ['auth, of RFC 6844 (5.1, reserved)', '128 auth "x"', 'Blocked'],
  ['issuemai, one letter short', '128 issuemai ";"', 'Blocked'],
  ['issuemails, one letter more', '128 issuemails ";"', 'Blocked'],
  ['a tag with a blank', {rdata: `8006${hex('issue ')}${hex('ca1.example.net')}`}, 'Blocked'],
  ['a tag with a dot behind it', '128 issue. "ca1.example.net"', 'Blocked'],
  ['a tag with the issuer in it', {rdata: `8015${hex('issue ca1.example.net')}`}, 'Blocked'],
  ['a tag with a NUL', {rdata: `8006${hex('issue\0')}`}, 'Blocked'],
  ['a tag with a no-break space', {rdata: `8007${hex('issue\u00a0')}`}, 'Blocked'],
  ['a tag that is no UTF-8', {rdata: '8002ff41'}, 'Blocked'],
  ['a tag with the dotless i', {rdata: `8006${hex('\u0131ssue')}${hex(';')}`}, 'Blocked'],
  ['a tag with the long s', {rdata: `8006${hex('i\u017fsue')}${hex(';')}`}, 'Blocked'],
  ['a tag with the dotted capital I', {rdata: `8006${hex('\u0130ssue')}${hex(';')}`}, 'Blocked'],
  ['an empty tag', {rdata: `8000${hex('x')}`}, 'Blocked'],
  ['no tag at all', {rdata: '80'}, 'Blocked'],
]);

const octets = rows('On the wire', [
  ['an issue property without a value', {rdata: `0005${hex('issue')}`}, 'Blocked'],
  ['an unknown property without a value', {rdata: `0003${hex('tbs')}`}, 'Allowed'],
  ['an empty tag that is not critical', {rdata: `0000${hex('ca2.example.org')}`}, 'Allowed'],
  ['flags alone, none of them set', {rdata: '00'}, 'Allowed'],
  ['flags and the length of no tag', {rdata: '0000'}, 'Allowed'],
  ['no octet at all', {rdata: ''}, 'Unknown', 'What has not even flags could have been anything.'],
  ['a tag that is longer than the record', {rdata: `00ff${hex('issue')}`}, 'Unknown'],
  ['a tag one octet longer than the record', {rdata: `0006${hex('issue')}`}, 'Unknown'],
  [
    'a tag longer than its record, and a good record',
    [{rdata: `0006${hex('issue')}`}, issue('ca1.example.net')],
    'Unknown',
  ],
  [
    'a good record, and a tag longer than its record',
    [issue('ca1.example.net'), {rdata: `0006${hex('issue')}`}],
    'Unknown',
  ],
  ['a record without an octet beside another CA', [{rdata: ''}, issue('ca2.example.org')], 'Unknown'],
  ['a tag of 255 octets', [{rdata: `80ff${'61'.repeat(255)}`}, issue('ca1.example.net')], 'Blocked'],
  ['a value of 4,000 octets', ours(` a=${'x'.repeat(4000)}`), 'Allowed'],
  ['a value of 60,000 blanks', ours(' '.repeat(60_000)), 'Allowed'],
  ['a value of 60,000 blanks, and a letter beyond ASCII', ours(` a=${' '.repeat(60_000)}ü`), 'Blocked'],
  ['a value of 60,000 semicolons', issue(`ca1.example.net${';'.repeat(60_000)}`), 'Blocked'],
  ['no record at all', [], 'Allowed'],
  [
    'a hundred records, ours the last',
    [...Array.from({length: 99}, (_, i) => `0 t${i} "x"`), issue('ca1.example.net')],
    'Allowed',
  ],
  [
    'a hundred records, another CA the last',
    [...Array.from({length: 99}, (_, i) => `0 t${i} "x"`), issue('ca2.example.org')],
    'Blocked',
  ],
  [
    'a hundred and one, another CA the last',
    [...Array.from({length: 100}, (_, i) => `0 t${i} "x"`), issue('ca2.example.org')],
    'Unknown',
  ],
  [
    'a hundred and one, a critical one the last',
    [issue('ca1.example.net'), ...Array.from({length: 99}, (_, i) => `0 t${i} "x"`), '128 tbs "x"'],
    'Unknown',
  ],
  [
    'a hundred and one, ours the first',
    [issue('ca1.example.net'), ...Array.from({length: 100}, (_, i) => `0 t${i} "x"`)],
    'Unknown',
    'Of an answer a hundred records are read, so that a zone cannot keep the operator busy; what was not read could forbid it.',
  ],
  [
    'a thousand, another CA the last',
    [...Array.from({length: 1000}, (_, i) => `0 t${i} "x"`), issue('ca2.example.org')],
    'Unknown',
  ],
]);

export const cases: readonly CaaCase[] = [
  ...issuers,
  ...blanks,
  ...parameters,
  ...methods,
  ...accounts,
  ...properties,
  ...critical,
  ...octets,
];

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

/** The RDATA of a record (RFC 8659, 4.1). */
export function rdata(record: CaaText): Buffer {
  if (typeof record !== 'string') return Buffer.from(record.rdata, 'hex');
  const [, flags, tag, value] = /^(\d+) (\S*) "([^]*)"$/.exec(record) ?? [];
  if (tag === undefined || value === undefined) throw new Error(`not a CAA record: ${record}`);
  return Buffer.concat([Buffer.from([Number(flags), Buffer.byteLength(tag)]), Buffer.from(tag), Buffer.from(value)]);
}
