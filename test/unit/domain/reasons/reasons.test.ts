/** The texts about each reason for customers, who are not engineers. */
import {describe, expect, test} from '@jest/globals';
import {reasons} from '../../../../operator/domain/reasons/reasons.ts';

const rows = Object.entries(reasons).map(([name, row]) => ({name, ...row}));
const textsIn = ({customer: {title, body, next, howLong}}: (typeof rows)[number]): string[] => [
  title,
  body,
  next,
  ...(howLong === '' ? [] : [howLong]),
];

/** Words of the operator and the cluster. The glossary has a customer's word for each of those that a customer must know. */
const jargon =
  /\b(hostnames?|tenants?|edge|claims?|primary|platform administrator|namespaces?|kubectl|kubernetes|cluster|cert-manager|acme|caa|ingress|routes?|pods?|services?|endpoints?|resolvers?|zones?|apex|cname|txt|ttl|tls|reconcil\w*|status|annotations?|finalizers?|objects?|order(s|ed)?|prove[ns]?|proof|drift\w*|verdict|customdomains?|spec|nobody|mend)\b/i;
/** The customer's word for a content delivery network. */
const allowed = /\banother service\b/gi;

const sentencesOf = (text: string): string[] => text.split(/(?<=\.) /);

describe('The texts for customers', () => {
  test.each(rows)('of $name have a title without a full stop, and whole sentences', (row) => {
    const {title, body, next, howLong} = row.customer;
    expect(title).toMatch(/^[A-Z][A-Za-z ,]{3,38}[a-z]$/);
    for (const text of [body, next, ...(howLong === '' ? [] : [howLong])]) expect(text).toMatch(/^[A-Z].{0,158}\.$/);
  });

  test.each(rows)('of $name have sentences of at most 25 words', (row) => {
    const long = textsIn(row)
      .flatMap(sentencesOf)
      .filter((sentence) => sentence.split(' ').length > 25);
    expect(long).toEqual([]);
  });

  test.each(rows)('of $name use no word that only an engineer knows', (row) => {
    expect(textsIn(row).map((text) => jargon.exec(text.replaceAll(allowed, ''))?.[0])).toEqual(
      textsIn(row).map(() => undefined),
    );
  });

  test('have a title of their own for each reason, so that support finds the reason by it', () => {
    const titles = rows.map(({customer}) => customer.title);
    expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
  });

  test('name a step wherever the customer must act', () => {
    const idle = rows.filter((row) => row.waitingFor === 'Customer' && row.customer.next.startsWith('You do not need'));
    expect(idle.map(({name}) => name)).toEqual([]);
  });

  test('name no duration where everything is done, unless a step is left', () => {
    const timed = rows.filter(({health, customer}) => health === 'done' && customer.howLong !== '');
    expect(timed.map(({name}) => name)).toEqual(['ServedBehindCDN', 'HTTPSRecordElsewhere']);
  });
});
