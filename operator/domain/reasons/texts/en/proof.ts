import type {proofReasons} from '../../proof.ts';
import type {CustomerTexts} from '../../reason.ts';
import {contactSupport, correctedSoon, createRecords, foundSoon, nothingToDo} from './shared.ts';

const changeValue =
  '[{cause=ZoneAppended}Enter the value below with a dot at its end.|' +
  'Leave {wildcard} as it is, and create the record below.|' +
  'Change the record at {provider} so that its value matches the value below exactly.|' +
  'Change the record at your DNS provider so that its value matches the value below exactly.]';

export const proof: Record<keyof typeof proofReasons, CustomerTexts> = {
  CheckPending: {
    title: 'Waiting for a check',
    body: 'This platform is about to check the DNS records of {hostname}.',
    next: 'Create the records below if they do not exist yet.',
    howLong: 'A check usually takes less than a minute.',
  },
  RecordMissing: {
    title: 'DNS record is missing',
    body:
      '{hostname} does not have the DNS record that connects it to your project.' +
      '[ The record was created at {place} instead.]',
    next:
      `${createRecords}[ If your provider adds {zone} to names, enter only {name} as the name.]` +
      '[ Afterwards, delete the misplaced record at {place}.]',
    howLong: foundSoon,
  },
  TargetMismatch: {
    title: 'DNS record has the wrong value',
    body:
      'The DNS record of {hostname} has the wrong value[: {found}].' +
      '[{cause=ZoneAppended} Your provider has added {zone} to the value.][ It comes from the record {wildcard}.]',
    next: changeValue,
    howLong: foundSoon,
  },
  IndirectCNAME: {
    title: 'DNS record is not direct',
    body: 'The DNS record of {hostname} leads to your project through another name[: {found}]. It must lead there directly.',
    next: changeValue,
    howLong: foundSoon,
  },
  ConflictingRecord: {
    title: 'DNS records are in conflict',
    body:
      '[{hostname} leads to another address through the record {wildcard}: {found}.|' +
      '{hostname} has other DNS records: {found}.|{hostname} has other DNS records, which lead to another address.]' +
      ' Visitors do not reach your project.',
    next:
      '[Leave {wildcard} as it is.|Delete these records at {provider}.|Delete these records at your DNS provider.] ' +
      'Create the records below.',
    howLong: foundSoon,
  },
  CNAMENotPossible: {
    title: 'Other records are in the way',
    body: '{hostname} has other DNS records[ ({types})]. The usual record cannot exist beside them.',
    next: `[Delete {remove}. ]Keep the other records. ${createRecords}`,
    howLong: foundSoon,
  },
  SynthesizedCNAME: {
    title: 'DNS record covers all names',
    body: '[The DNS record of {place}|A DNS record] answers for all names below it. It does not confirm that {hostname} is yours.',
    next:
      'Ask your DNS provider to replace that record with records for single names. ' +
      'The record below must be among them.',
    howLong: foundSoon,
  },
  NameServersDisagree: {
    title: 'DNS servers do not agree',
    body: 'Only some DNS servers of {hostname} have the correct record.[ These DNS servers lack the record: {servers}.]',
    next: 'Wait a few minutes. If this lasts, ask your DNS provider to update all of its servers.',
    howLong: 'This usually takes a few minutes.',
  },
  ProxiedOrFlattened: {
    title: 'DNS record is hidden',
    body:
      '{hostname} leads to this platform[ through the record {wildcard}]. ' +
      'Its DNS does not show the record that confirms that the domain is yours.',
    next: createRecords + ' If your provider has a proxy, switch it off for this record.',
    howLong: foundSoon,
  },
  BehindCDN: {
    title: 'Domain is behind another service',
    body:
      '{hostname} is behind [{service}|another service][ through the record {wildcard}]. ' +
      'This service hides the record that confirms that the domain is yours.',
    next:
      `${createRecords} If another service stays in front, set it to connect to us over HTTPS ` +
      '(Cloudflare: Full (strict)).',
    howLong: foundSoon,
  },
  ConflictingA: {
    title: 'Domain leads to another address',
    body: '{hostname} leads to another address[: {remove}]. Visitors do not reach your project.',
    next: `Delete [{remove}|the A records that lead elsewhere]. ${createRecords}`,
    howLong: foundSoon,
  },
  ConflictingAAAA: {
    title: 'Domain leads some visitors elsewhere',
    body: '{hostname} leads some visitors to another address[: {remove}].',
    next: `Delete [{remove}|the AAAA records that lead elsewhere]. ${createRecords}`,
    howLong: foundSoon,
  },
  TXTMissing: {
    title: 'Confirmation record is missing',
    body:
      '{hostname} leads to this platform. The TXT record that confirms that the domain is yours is missing.' +
      '[ The TXT record was created at {place} instead.]',
    next: `${createRecords}[ Afterwards, delete the misplaced record at {place}.]`,
    howLong: foundSoon,
  },
  TXTMismatch: {
    title: 'Confirmation record is wrong',
    body: 'The TXT record that confirms that {hostname} is yours has the wrong value.',
    next:
      '[{cause=Quoted}Remove quotation marks and spaces around the value of the TXT record.|' +
      'Correct the TXT record at {provider}.|Correct the TXT record at your DNS provider.] ' +
      'The value must match the value below exactly.',
    howLong: foundSoon,
  },
  PropagationPending: {
    title: 'DNS change is spreading',
    body: 'Your DNS provider has the correct record. Other networks do not see the record yet.',
    next: nothingToDo,
    howLong:
      '[Networks can repeat the old answer until {endTime}.|The change usually reaches all networks within a few hours.]',
  },
  AuthoritativeUnreachable: {
    title: 'DNS provider does not answer',
    body: 'The DNS servers of {hostname} do not answer.[ They belong to {provider}.]',
    next: 'Ask your DNS provider whether its DNS servers work. If they do, contact support.',
    howLong: '',
  },
  AuthoritativeFailure: {
    title: 'DNS provider reports an error',
    body: 'The DNS servers of {hostname} answer with an error.[ They belong to {provider}.]',
    next: 'Ask your DNS provider to correct the DNS settings of this domain.',
    howLong: correctedSoon,
  },
  DNSSECBroken: {
    title: 'DNS security is broken',
    body: 'The security signatures (DNSSEC) of [{zone}|{hostname}] are not valid. Many networks therefore refuse the domain.',
    next:
      'Ask your DNS provider to correct DNSSEC for [{zone}|{hostname}]. ' +
      'A wrong DS record is removed or corrected where you registered the domain.',
    howLong: 'A correction usually takes effect within a day.',
  },
  ResolverFailure: {
    title: 'DNS check failed',
    body: 'This platform could not finish the check of your DNS records. Your records may be correct.',
    next: contactSupport,
    howLong: '',
  },
  NoEdgeAddress: {
    title: 'Platform is not ready for the check',
    body: 'This platform does not know its own addresses yet, so it cannot check your DNS records.',
    next: contactSupport,
    howLong: '',
  },
  HostnameClaimed: {
    title: 'Domain is in use elsewhere',
    body:
      '{hostname} has the correct record, but ' +
      '[{cause=Own}another project of your account uses the domain.|the domain is in use elsewhere on this platform.]',
    next:
      '[{cause=Own}Remove {hostname} from the other project, or remove it here.|' +
      '{cause=Contest}Remove other DNS records of {hostname} that were created for this platform, such as an older TXT record.|' +
      'Create the records below, or contact support.]',
    howLong:
      '[{cause=Own}After the removal, the domain is connected here automatically, usually within a few minutes.|' +
      '{cause=Contest}The domain is then connected here automatically.]',
  },
  VerificationExpired: {
    title: 'Automatic checks have ended',
    body: 'The DNS records of {hostname} were not found[ within {limit} hours], so automatic checks have ended.',
    next: 'Create the records below[ at {provider}], then press Verify.',
    howLong: 'The check usually takes less than a minute.',
  },
};
