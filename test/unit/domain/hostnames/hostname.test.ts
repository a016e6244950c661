import {readFileSync} from 'node:fs';
import {describe, expect, test} from '@jest/globals';
import * as fc from 'fast-check';
import {hostnameRules, needsALabel} from '../../../../operator/api/hostname-rules.ts';
import {
  aLabelAdvice,
  digest,
  formerProjectHost,
  isApexByName,
  isPublicSuffix,
  normalise,
  isObjectName,
  objectNameOf,
  projectHost,
  readable,
  recordName,
  registrableName,
  within,
} from '../../../../operator/domain/hostnames/hostname.ts';

const l63 = 'a'.repeat(63);
const name253 = `${`${l63}.`.repeat(3)}${'a'.repeat(61)}`;

describe('A hostname with other characters than letters and digits', () => {
  test.each([
    ['an emoji', '💩.la', 'write 💩.la as xn--ls8h.la, '],
    [
      'an emoji in a label with letters',
      'shop-🍕.example.com',
      'write shop-🍕.example.com as xn--shop--0q93d.example.com, ',
    ],
    ['an emoji with its variation', 'i❤️.ws', 'write i❤.ws as xn--i-7iq.ws, '],
    ['a flag of two letters', '🇩🇪.example', 'write 🇩🇪.example as xn--h77hc.example, '],
    ['a joiner that its script needs', 'क्\u200dष.example', 'write क्\u200dष.example as xn--11b2ezcw70k.example, '],
    ['an ideographic full stop', '例え。テスト', 'write 例え.テスト as xn--r8jz45g.xn--zckzah, '],
  ])('is written in its ASCII form: %s', (_, written, advice) => {
    expect(aLabelAdvice(written)).toBe(`${advice}the ASCII form that DNS uses and most browsers show`);
    expect(normalise(normalise(written)!)).toBe(normalise(written));
  });

  test('is another one where it has none: joined emoji', () => {
    expect(aLabelAdvice('👨‍👩‍👧.example')).toBe('joined emoji have no ASCII form (UTS #46), so choose another hostname');
  });

  test.each(['docs.example.com', 'bücher.example', 'my_docs.example.com', 'xn--ls8h.la'])('is not %s', (written) => {
    expect(aLabelAdvice(written)).toBeUndefined();
  });

  test.each(['https://💩.la', '💩_x.example.com', '*.💩.example.com', '💩 x.example.com', '☃️.localhost'])(
    'has no advice where another rule refuses it: %s',
    (written) => {
      expect(aLabelAdvice(written)).toBeUndefined();
      expect(hostnameRules.every((rule) => rule.holds(written))).toBe(false);
    },
  );

  test.each([
    ['quotes', '“docs.example.com”'],
    ['a dash', 'my–docs.example.com'],
    ['a blank of no width', 'do\u200bcs.example.com'],
    ['a soft hyphen', 'do\u00adcs.example.com'],
    ['a mark that turns the direction', 'docs\u202e.example'],
    ['a sign of a currency', '€.example.com'],
  ])('is refused by the rule where a paste has left %s', (_, written) => {
    expect([needsALabel(written), aLabelAdvice(written)]).toEqual([false, undefined]);
    expect(hostnameRules.every((rule) => rule.holds(written))).toBe(false);
  });
});

describe('The normal form', () => {
  test.each([
    ['docs.example.com', 'docs.example.com'],
    ['Docs.EXAMPLE.com', 'docs.example.com'],
    ['docs.example.com.', 'docs.example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example.', 'xn--bcher-kva.example'],
    ['bu\u0308cher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
    ['straße.example', 'xn--strae-oqa.example'],
    ['ﬁ.example', 'fi.example'],
    ['ｄｏｃｓ.example', 'docs.example'],
    ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
    ['क्\u200dष.example', 'xn--11b2ezcw70k.example'],
    ['a-b.example', 'a-b.example'],
    ['ab--cd.example', 'ab--cd.example'],
    ['1a.example', '1a.example'],
    [`${l63}.example`, `${l63}.example`],
    [name253, name253],
    [`${name253}.`, name253],
  ])('of %s is %s', (written, expected) => {
    expect(normalise(written)).toBe(expected);
  });

  test.each([
    ['nothing', ''],
    ['a dot', '.'],
    ['one label', 'localhost'],
    ['two trailing dots', 'example.com..'],
    ['an empty label', 'a..example'],
    ['a leading hyphen', '-a.example'],
    ['a trailing hyphen', 'a-.example'],
    ['an underscore', 'a_b.example'],
    ['a wildcard', '*.example.com'],
    ['a blank', 'a b.example'],
    ['a label of 64', `a${l63}.example`],
    ['254 octets', `a${name253}`],
    ['a label that grows beyond 63 in Punycode', `${'ü'.repeat(60)}.example`],
    ['Punycode that decodes to nothing', 'xn--.example'],
    ['Punycode of plain ASCII', 'xn--fi-.example'],
    ['Punycode that overflows', 'xn--999999999.example'],
    ['Punycode of a control character', 'XN--A.example'],
    ['mixed directions (RFC 5893)', 'מx.example'],
    ['a joiner without its context (RFC 5892)', 'a\u200db.example'],
    ['an address', '192.0.2.1'],
    ['an address in other digits', '１９２.0.2.1'],
    ['an address with a hexadecimal end', '1.2.3.0x4'],
    ['a numeric end', 'a.1'],
    ['an IPv6 address', '[::1]'],
    ['a port', 'example.com:80'],
    ['a path', 'example.com/x'],
    ['a query', 'example.com?x'],
    ['an escape', 'a%2eb.example'],
    ['a tab', 'exam\tple.com'],
    ['a soft hyphen alone', '\u00ad.example'],
  ])('does not exist of %s: %s', (_, written) => {
    expect(normalise(written)).toBeUndefined();
  });

  test('is its own normal form, and fits every schema', () => {
    const label = fc.string({unit: fc.constantFrom(...'abcXYZ019-üßéñ例ا'), minLength: 1, maxLength: 12});
    fc.assert(
      fc.property(fc.array(label, {minLength: 1, maxLength: 5}), fc.boolean(), (labels, dot) => {
        const name = normalise(labels.join('.') + (dot ? '.' : ''));
        if (name === undefined) return;
        expect(normalise(name)).toBe(name);
        expect(name).toMatch(/^[a-z0-9.-]{3,253}$/);
        expect(Math.max(...name.split('.').map((part) => part.length))).toBeLessThanOrEqual(63);
      }),
      {numRuns: 2000},
    );
  });
});

test.each([
  ['a.example', 'a.example', true],
  ['b.a.example', 'a.example', true],
  ['ba.example', 'a.example', false],
  ['example', 'a.example', false],
])('%s is within %s: %s', (name, ancestor, expected) => {
  expect(within(name, ancestor)).toBe(expected);
});

test.each([
  ['com', true],
  ['co.uk', true],
  ['xn--p1ai', true],
  ['foo.ck', true],
  ['kawasaki.jp', true],
  ['example.com', false],
  ['www.ck', false],
  ['city.kawasaki.jp', false],
  ['github.io', false],
  ['customer.test', false],
  ['test', false],
  ['bbc.co.uk', false],
])('%s is a public suffix of the ICANN section: %s', (name, expected) => {
  expect(isPublicSuffix(name)).toBe(expected);
});

test.each([
  ['docs.example.com', 'docs', 'example.com'],
  ['a.b.example.co.uk', 'a.b', 'example.co.uk'],
  ['example.com', '@', 'example.com'],
  ['old.customer.test', 'old', 'customer.test'],
  ['user.github.io', '@', 'user.github.io'],
  ['docs.example.uk.com', 'docs', 'example.uk.com'],
  ['uk.com', '@', 'uk.com'],
  ['xn--bcher-kva.example', '@', 'xn--bcher-kva.example'],
])('a form asks for %s as %s in the zone %s', (hostname, name, zone) => {
  expect(recordName(hostname)).toEqual({name, zone});
  expect(registrableName(hostname)).toBe(zone);
});

const p = {
  installation: 'apps.platform.test',
  zone: 'apps.platform.test',
  tenant: {account: 'acme'},
  namespace: 'acme',
  name: 'docs',
};
/** The 13 characters of a Project's host. */
const unique = (change: Partial<Parameters<typeof projectHost>[0]>) =>
  projectHost({...p, ...change})
    .split('.')[0]!
    .slice(-13);

describe('The host of a Project', () => {
  test('is what it has always been: customers have written it into their zones', () => {
    expect(projectHost(p)).toBe('docs-acme-gv1c1mzbvea6m.apps.platform.test');
    expect(projectHost({...p, counter: 1})).toBe('docs-acme-58rjphvj9d7sd.apps.platform.test');
    expect(formerProjectHost(p)).toBe('docs-acme-p0emfyp6ay01j.apps.platform.test');
    expect(formerProjectHost({...p, counter: 1})).toBe('docs-acme-dmsrebzw96yve.apps.platform.test');
  });

  test('depends on installation, tenant, namespace, name and counter, not on the zone', () => {
    const tenants = [{account: 'x'}, {namespaceUID: 'x'}, {namespaceUID: 'acme'}].map((tenant) => ({tenant}));
    const others = [{installation: 'x'}, {namespace: 'x'}, {name: 'x'}, {counter: 1}];
    expect(new Set([{}, ...others, ...tenants].map(unique)).size).toBe(8);
    expect(unique({zone: 'other.test'})).toBe(unique({}));
    expect(unique({counter: 0})).toBe(unique({}));
  });

  test('of two Projects that read the same differ', () => {
    const [a, b] = [projectHost({...p, name: 'a-b', namespace: 'c'}), projectHost({...p, name: 'a', namespace: 'b-c'})];
    expect(a.slice(0, 6)).toBe(b.slice(0, 6));
    expect(a).not.toBe(b);
  });

  test('is a valid hostname of at most 63 octets in its first label, whatever the names', () => {
    const objectName = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,60}[a-z0-9])?$/);
    fc.assert(
      fc.property(objectName, objectName, (name, namespace) => {
        const [label] = projectHost({...p, name, namespace}).split('.');
        expect(label).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        expect(label).toMatch(/[^-]-[0-9a-hjkmnp-tv-z]{13}$/);
      }),
      {numRuns: 1000},
    );
  });

  test('has no hyphen more where the cut falls on one', () => {
    const label = projectHost({...p, name: `${'a'.repeat(48)}-b`, namespace: 'c'}).split('.')[0]!;
    expect(label).toMatch(/^a{48}-[^-]{13}$/);
    expect(projectHost({...p, name: 'a'.repeat(200)}).split('.')[0]).toHaveLength(63);
  });
});

describe('The digest', () => {
  test('tells parts apart, also where they run together', () => {
    expect(digest(13, 'ab', 'c')).not.toBe(digest(13, 'a', 'bc'));
    expect(digest(13, 'ab')).not.toBe(digest(13, 'ab', ''));
    expect(digest(13, 1)).toBe(digest(13, '1'));
  });

  test('is base32 without letters that look like digits, of any length up to 51, a longer one going on from a shorter', () => {
    const long = digest(50, 'x');
    expect(long).toMatch(/^[0-9a-hjkmnp-tv-z]{50}$/);
    expect(digest(13, 'x')).toBe(long.slice(0, 13));
    // SHA-256 of "x\0" begins 0x14f8: 00010 10011 11100.
    expect(digest(3, 'x')).toBe('2kw');
  });
});

describe('The name of an object', () => {
  test('is a DNS label, the same for the same owner and hostname, another for any other', () => {
    const names = fc
      .array(fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/), {minLength: 2, maxLength: 4})
      .map((labels) => labels.join('.'))
      .filter((name) => name.length <= 253);
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), names, (uid, other, hostname) => {
        const name = objectNameOf(uid, hostname);
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
        expect(objectNameOf(uid, hostname)).toBe(name);
        expect(objectNameOf(other, hostname) === name).toBe(uid === other);
      }),
      {numRuns: 500},
    );
  });

  test('can be read', () => {
    expect(objectNameOf('uid', 'docs.example.com')).toMatch(/^docs-example-com-[0-9a-z]{13}$/);
    expect(isObjectName(objectNameOf('uid', 'docs.example.com'), 'docs.example.com')).toBe(true);
    for (const other of ['docs-example-com', 'docs-example-com-0123456789abu', 'docs-example-org-0123456789abc'])
      expect(isObjectName(other, 'docs.example.com')).toBe(false);
    expect(objectNameOf('uid', 'a.b-c.example')).not.toBe(objectNameOf('uid', 'a-b.c.example'));
  });

  test.each([
    ['a.b.c', 9, 'a-b-c'],
    ['a.b.c', 4, 'a-b'],
    ['a--b', 3, 'a'],
    ['abc', 2, 'ab'],
  ])('%s in %i characters is %s', (name, max, expected) => {
    expect(readable(name, max)).toBe(expected);
  });
});

describe("The Public Suffix List's own test vectors", () => {
  const vectors = [
    ...readFileSync(new URL('test_psl.txt', import.meta.url), 'utf8').matchAll(
      /^checkPublicSuffix\((null|'(.*?)'), (null|'(.*?)')\);$/gm,
    ),
  ].flatMap(([, , input, , expected]): [string, string | undefined][] =>
    input === undefined ? [] : [[input, expected]],
  );
  const registered = vectors.filter((vector): vector is [string, string] => vector[1] !== undefined);

  test('are all there', () => {
    expect([vectors.length, registered.length]).toEqual([77, 52]);
  });

  test.each(registered)('%s was registered as %s: that is the apex', (written, expected) => {
    const name = normalise(written)!;
    expect(registrableName(name)).toBe(normalise(expected));
    expect(isApexByName(name)).toBe(name === normalise(expected));
  });

  test.each(vectors.filter(([, expected]) => expected === undefined))(
    '%s was not registered: nobody can attach it, a private suffix apart',
    (written) => {
      const name = normalise(written);
      const attachable = name !== undefined && !isPublicSuffix(name);
      expect(attachable).toBe(written === 'uk.com');
    },
  );
});
