import {acceptance} from './en/acceptance.ts';
import {certificate} from './en/certificate.ts';
import {others} from './en/others.ts';
import {proof} from './en/proof.ts';
import {serving} from './en/serving.ts';
import type {Language} from './language.ts';

export const english: Language = {
  code: 'en',
  texts: {...acceptance, ...proof, ...certificate, ...serving, ...others},
  instructions: {
    title: 'Connect the domain {hostname}',
    intro:
      'To connect {hostname}, sign in [to {provider}|to your DNS provider] and open the DNS settings of [{zone}|the domain]. ' +
      'Create each record below.',
    record: 'Record {n}',
    type: 'Type',
    name: 'Name',
    value: 'Value',
    ttl: 'TTL',
    seconds: '{n} seconds',
    emptyName: '(leave empty)',
    alias: 'Some providers call this type ANAME. If your provider has neither, ask support for the addresses to use.',
    noRecords: 'No DNS record is needed at the moment.',
    nextSteps: 'Next step',
    howLong: 'How long it takes',
  },
};
