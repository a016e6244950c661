/** The texts about each reason for customers, who are not engineers, in each language. */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from '@jest/globals';
import {parse} from 'yaml';
import {customerTexts, localTime} from '../../../../operator/domain/reasons/customer.ts';
import {instructions} from '../../../../operator/domain/reasons/instructions.ts';
import {
  type DescribedState,
  customerParameters,
  timeParameters,
} from '../../../../operator/domain/reasons/parameters.ts';
import type {CustomerTexts} from '../../../../operator/domain/reasons/reason.ts';
import {reasons} from '../../../../operator/domain/reasons/reasons.ts';
import {fill, type Parameters, parametersIn, shownTemplate} from '../../../../operator/domain/reasons/template.ts';
import {forms, formOf} from '../../../../operator/domain/verification/provider-forms.ts';
import {providers} from '../../../../operator/domain/verification/providers.ts';
import {german} from '../../../../operator/domain/reasons/texts/de.ts';
import {english} from '../../../../operator/domain/reasons/texts/en.ts';

const languages = [english, german];
const docs = new URL('../../../../docs/', import.meta.url);
const {page: forbidden} = parse(readFileSync(fileURLToPath(new URL('words.yaml', docs)), 'utf8')) as {
  page: {word: string; instead: string}[];
};
const words = new RegExp(`\\b(${forbidden.map(({word}) => word).join('|')})s?\\b`, 'i');

const hostname = 'docs.example.com';
const shared: Parameters = {hostname};
const every: Parameters = {
  ...shared,
  primary: 'www.example.com',
  record: 'CNAME',
  name: 'docs',
  expected: 'target.example.net',
  found: 'A 203.0.113.7',
  zone: 'example.com',
  provider: 'Cloudflare',
  target: 'www.example.com',
  until: 'May 1, 2026 at 1:00 PM',
  expires: 'May 1, 2026 at 1:00 PM',
  endTime: 'May 1, 2026 at 1:00 PM',
  limit: '5',
  place: 'example.com',
  wildcard: '*.example.com',
  add: 'CAA 0 issue "ca.example"',
  remove: 'A 203.0.113.7',
  service: 'Cloudflare',
  servers: 'ns1.example.net (192.0.2.1)',
  types: 'MX, TXT',
  waitingFor: 'Customer',
};

const conditionsIn = (text: string): [name: string, value: string][] =>
  [...text.matchAll(/\{(\w+)=(\w+|\*)\}/g)].map(([, name = '', value = '']) => [name, value === '*' ? 'Any' : value]);
const choicesIn = (text: string): string[] =>
  [...text.matchAll(/\[([^\]]*)\]/g)].flatMap(([, all = '']) => all.split('|'));

/** A template with all parameters, with none but the hostname, with each condition, and with what each alternative needs. */
function renderings(text: string): string[] {
  const alternatives = choicesIn(text).map((one) => ({
    ...shared,
    ...Object.fromEntries(parametersIn(one).map((name) => [name, every[name]!])),
    ...Object.fromEntries(conditionsIn(one)),
  }));
  const {waitingFor: _, ...unconditional} = every;
  const conditional = conditionsIn(text).map(([name, value]) => ({...every, [name]: value}));
  return [every, unconditional, shared, ...conditional, ...alternatives].map((each) => fill(text, each));
}

/** A parameter may begin a sentence, and may contain full stops. */
const sentencesOf = (text: string): string[] => text.split(/(?<=\.) (?=[A-ZÄÖÜd*])/);

/** The parameters and conditions of a row. */
const used = ({body, next, howLong}: CustomerTexts) =>
  [
    ...new Set([body, next, howLong].flatMap((text) => [...parametersIn(text), ...conditionsIn(text).map(String)])),
  ].toSorted();

describe.each(languages)('The texts for customers in $code', ({code, texts, instructions: labels}) => {
  const rows = Object.entries(texts);

  test('exist for each reason, and for no other', () => {
    expect(Object.keys(texts).toSorted()).toEqual([...Object.keys(reasons), 'Other', 'Pending'].toSorted());
  });

  test.each(rows)(
    'of %s are whole sentences of at most 25 words in every case, with every parameter filled',
    (_, row) => {
      for (const text of [row.body, row.next, row.howLong].flatMap(renderings)) {
        expect(text).not.toMatch(/[[\]{}|]| {2}| [.,]|\.\.|undefined/);
        expect(text).toMatch(/^$|^([A-ZÄÖÜ]|docs\.).*\.$/);
        for (const sentence of sentencesOf(text)) {
          const count = sentence.split(' ').length;
          expect([sentence, count <= 25]).toEqual([sentence, true]);
        }
      }
      for (const text of [row.body, row.next]) for (const shown of renderings(text)) expect(shown).not.toBe('');
    },
  );

  test.each(rows)('of %s use no word that only an engineer knows', (_, row) => {
    const all = [row.title, ...[row.body, row.next, row.howLong].flatMap(renderings)];
    expect(all.map((text) => words.exec(text.replaceAll(hostname, ''))?.[0]).filter(Boolean)).toEqual([]);
  });

  test.each(rows)('of %s have a title without a full stop and without parameters', (_, {title}) => {
    expect(title).toMatch(/^[A-ZÄÖÜ][\p{L} ,-]{3,50}\p{L}$/u);
  });

  test('have a title of their own for each reason, so that support finds the reason by it', () => {
    const titles = rows.map(([, {title}]) => title);
    expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
  });

  test('name a step wherever the customer must act', () => {
    const idle = rows.filter(
      ([id, {next}]) =>
        Object.hasOwn(reasons, id) &&
        reasons[id as keyof typeof reasons].waitingFor === 'Customer' &&
        fill(next, {...shared, waitingFor: 'Customer'}) === texts.Serving.next,
    );
    expect(idle.map(([id]) => id)).toEqual([]);
  });

  test('of the instructions use no word that only an engineer knows', () => {
    const all = Object.values(labels).flatMap(renderings);
    expect(all.map((text) => words.exec(text.replaceAll(hostname, ''))?.[0]).filter(Boolean)).toEqual([]);
  });

  test('have the parameters and the cases of the English ones', () => {
    expect(Object.fromEntries(rows.map(([id, row]) => [id, used(row)]))).toEqual(
      Object.fromEntries(rows.map(([id]) => [id, used(english.texts[id as keyof typeof texts])])),
    );
    expect(code).toMatch(/^[a-z]{2}$/);
  });
});

const host: DescribedState & {hostname: string} = {
  hostname,
  reason: 'RecordMissing',
  waitingFor: 'Customer',
  records: [
    {
      type: 'CNAME',
      name: 'docs',
      zone: 'example.com',
      value: 'docs-acme.apps.example.net',
      ttl: 3600,
      state: 'Missing',
      observed: [],
    },
  ],
  zone: {name: 'example.com', nameServers: ['ada.ns.cloudflare.com'], provider: 'Cloudflare'},
};

describe('A text for a customer', () => {
  test('has the values of the fields of the API, and names them as parameters', () => {
    expect(customerTexts(host, {language: english})).toEqual({
      id: 'RecordMissing',
      language: 'en',
      title: 'DNS record is missing',
      body: 'docs.example.com does not have the DNS record that connects it to your project.',
      next: 'Create the records below at Cloudflare. If your provider adds example.com to names, enter only docs as the name.',
      howLong: 'Saved records are usually found within a few minutes.',
      parameters: {
        hostname,
        waitingFor: 'Customer',
        record: 'CNAME',
        name: 'docs',
        expected: 'docs-acme.apps.example.net',
        zone: 'example.com',
        provider: 'Cloudflare',
      },
    });
  });

  test('has its parts of the message, and a text without them for a status of an earlier release', () => {
    const held = {...host, reason: 'IssuanceQueued'};
    expect(customerTexts({...held, details: {endTime: '2026-11-29T06:00:00Z'}}, {language: english}).howLong).toBe(
      'We expect to request the certificate by November 29, 2026 at 6:00 AM UTC.',
    );
    expect(customerTexts(held, {language: english}).howLong).toBe('The certificate is requested automatically.');
  });

  test('has times of the time zone and the language; its parameters have those of the API', () => {
    const drifted = {...host, reason: 'DNSDrifted', servedUntil: '2026-11-29T06:00:00Z'};
    const shown = customerTexts(drifted, {language: german, timeZone: 'Europe/Berlin'});
    expect(shown.body).toBe(
      'Die DNS-Einträge von docs.example.com führen nicht mehr zu Ihrem Projekt. ' +
        'Die Domain bleibt hier bis 29. November 2026 um 07:00 verbunden.',
    );
    expect(shown).toMatchObject({language: 'de', parameters: {until: '2026-11-29T06:00:00Z'}});
    expect(customerTexts(drifted, {language: english, locale: 'en-GB'}).body).toContain(
      'until 29 November 2026 at 06:00 UTC.',
    );
    expect(localTime('soon', 'en')).toBe('soon');
  });

  test('can be made again from its id and parameters, in another language', () => {
    const {id, parameters} = customerTexts(
      {...host, details: {place: 'docs.example.com.example.com'}},
      {language: english},
    );
    expect(customerTexts({reason: id, details: parameters}, {language: german})).toEqual(
      customerTexts({...host, details: {place: 'docs.example.com.example.com'}}, {language: german}),
    );
  });

  test.each([...Object.keys(reasons), 'FromAnotherRelease', 'constructor'])(
    'about %s never has the message for engineers',
    (reason) => {
      const message = 'the edge of the tenant';
      for (const language of languages)
        expect(JSON.stringify(customerTexts({...host, reason, message} as DescribedState, {language}))).not.toContain(
          message,
        );
    },
  );

  test('about a reason of another release says that the page does not know it', () => {
    for (const reason of ['FromAnotherRelease', 'constructor', '__proto__']) {
      const textsOf = () => customerTexts({...host, reason}, {language: english});
      expect(textsOf).not.toThrow();
      expect(textsOf()).toMatchObject({id: 'Other', title: english.texts.Other.title});
    }
  });

  test('marks a lost or expired certificate as bad, and an edge fault or a late renewal as a warning, which no phase shows', () => {
    const toned = Object.keys(reasons).map((reason) => [
      reason,
      customerTexts({...host, reason}, {language: english}).tone,
    ]);
    expect(toned.filter(([, tone]) => tone !== undefined)).toEqual([
      ['EdgeUnreachable', 'wait'],
      ['EdgeNotServing', 'wait'],
      ['RenewalOverdue', 'wait'],
      ['CertificateExpired', 'bad'],
      ['CertificateLost', 'bad'],
    ]);
  });

  test('never names the main domain as another domain than itself', () => {
    expect(customerParameters(host, hostname)).not.toHaveProperty('primary');
    expect(customerParameters(host, 'www.example.com')).toMatchObject({primary: 'www.example.com'});
    expect([...timeParameters]).toEqual(['until', 'expires', 'endTime']);
  });
});

describe('A template', () => {
  test.each([
    ['[A {a}|B {b}|C]', {a: '1', b: '2'}, 'A 1'],
    ['[A {a}|B {b}|C]', {b: '2'}, 'B 2'],
    ['[A {a}|B {b}|C]', {}, 'C'],
    ['x[ {a}] y', {}, 'x y'],
    ['[{a=1}one|{a=*}other|none]', {a: '1'}, 'one'],
    ['[{a=1}one|{a=*}other|none]', {a: '2'}, 'other'],
    ['[{a=1}one|{a=*}other|none]', {}, 'none'],
    ['{toString}', {}, '{toString}'],
    ['{a}', {a: '[{b}|c]'}, '[{b}|c]'],
  ])('%s with %j is "%s"', (template, parameters, expected) => {
    expect(fill(template, parameters)).toBe(expected);
  });

  test('is shown in documentation with its usual case and the names of its parameters', () => {
    expect(shownTemplate('[{a=1}One.|Two {b}.|Three.][ Four {c}.]')).toBe('Two {b}. Four {c}.');
    expect(shownTemplate('[{a=1}One.]')).toBe('One.');
  });
});

describe('Instructions to send', () => {
  test('have the records as a form, the next step and the time that it takes', () => {
    expect(instructions(host, {language: english})).toBe(`Connect the domain docs.example.com

DNS record is missing. docs.example.com does not have the DNS record that connects it to your project.

To connect docs.example.com, sign in to Cloudflare and open the DNS settings of example.com. Create each record below.

Type: CNAME
Name: docs
Target: docs-acme.apps.example.net
TTL: 3600 seconds

Next step: Create the records below at Cloudflare. If your provider adds example.com to names, enter only docs as the name.

How long it takes: Saved records are usually found within a few minutes.
`);
  });

  test('number several records, and have a hint for an ALIAS and an empty name if the form of the provider needs them', () => {
    const [record] = host.records!;
    const apex = {
      ...host,
      reason: 'TXTMissing',
      records: [
        {...record!, type: 'ALIAS', name: '@'},
        {...record!, type: 'TXT', name: '_doorplate-challenge', value: 'token'},
      ],
      zone: {...host.zone!, provider: 'Route 53'},
    };
    const text = instructions(apex, {language: german});
    expect(text).toContain(
      'Eintrag 1\nRecord type: ALIAS\nRecord name: (leer lassen)\nValue: docs-acme.apps.example.net\n',
    );
    expect(text).toContain('Manche Anbieter nennen diesen Typ ANAME.');
    expect(text).toContain('Eintrag 2\nRecord type: TXT\nRecord name: _doorplate-challenge\nValue: token\n');
    expect(instructions({...host, records: []}, {language: english})).toContain(
      'No DNS record is needed at the moment.',
    );
  });

  test.each([
    [undefined, english, 'CNAME', ['Type', 'Name', 'Value', 'TTL']],
    ['constructor', german, 'TXT', ['Typ', 'Name', 'Wert', 'TTL']],
    ['Cloudflare', german, 'CNAME', ['Type', 'Name', 'Target', 'TTL']],
    ['Cloudflare', english, 'TXT', ['Type', 'Name', 'Content', 'TTL']],
    ['Cloudflare', english, 'A', ['Type', 'Name', 'IPv4 address', 'TTL']],
    ['Namecheap', english, 'CNAME', ['Type', 'Host', 'Value', 'TTL']],
    ['IONOS', english, 'CNAME', ['Type', 'Hostname', 'Points to', 'TTL']],
    ['IONOS', german, 'TXT', ['Typ', 'Hostname', 'Wert', 'TTL']],
  ])("for %s ($#) have the provider's own words for a %s record", (provider, language, type, expected) => {
    const {labels} = formOf({type, name: 'docs'}, provider, language);
    expect([labels.type, labels.name, labels.value, labels.ttl]).toEqual(expected);
  });

  test('know only providers whose name servers are known', () => {
    const names = new Set(providers.map(({name}) => name));
    expect(Object.keys(forms).filter((name) => !names.has(name))).toEqual([]);
  });
});
