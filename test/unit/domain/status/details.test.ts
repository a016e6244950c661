/** Parts of messages in `status.hosts[].details`, of which the texts for customers are made. */
import {describe, expect, test} from '@jest/globals';
import {judgeCaa} from '../../../../operator/domain/certificates/caa.ts';
import {culprit} from '../../../../operator/domain/certificates/diagnosis.ts';
import {acceptHostname} from '../../../../operator/domain/hostnames/acceptance.ts';
import {decide} from '../../../../operator/domain/lifecycle.ts';
import {longestDetail} from '../../../../operator/api/custom-domain.ts';
import {shortDetails} from '../../../../operator/domain/status/details.ts';
import type {Refuted} from '../../../../operator/domain/verification/method.ts';
import {saidAt} from '../../../../operator/domain/verification/message.ts';
import {t0, world} from '../../../support/world.ts';

const ca = {identities: ['ca1.example.net'], zone: 'apps.platform.test'};
const missing: Refuted = {
  kind: 'Refuted',
  reason: 'RecordMissing',
  message: 'x has no record.',
  state: 'Missing',
  observed: [],
  apex: false,
};

describe('Details', () => {
  test('of a block by CAA records are the record to add and its place', () => {
    const seen = {
      of: 'example.com',
      foundAt: 'example.com',
      records: [{flags: 0, tag: 'issue', value: 'other.example'}],
    };
    expect(judgeCaa('docs.example.com', seen, ca)).toMatchObject({
      details: {place: 'example.com', add: 'CAA 0 issue "ca1.example.net"'},
    });
    const critical = {...seen, records: [{flags: 128, tag: 'tbs', value: 'x'}]};
    expect(judgeCaa('docs.example.com', critical, ca)).toMatchObject({details: {place: 'example.com'}});
    const failure = {name: 'example.com', failure: 'BrokenDnssec', detail: ''};
    expect(judgeCaa('docs.example.com', {failure}, ca)).toMatchObject({
      details: {place: 'example.com', cause: 'Dnssec'},
    });
  });

  test.each([
    ['co.uk', 'PublicSuffix'],
    ['x.localhost', 'Reserved'],
    ['a.apps.platform.test', 'Platform'],
    ['a.denied.example', 'Denied'],
    ['xn--999999999.example', 'Invalid'],
  ])('of %s, which is not allowed, name the case %s', (written, cause) => {
    const policy = {zone: 'apps.platform.test', deniedNames: ['denied.example']};
    expect(acceptHostname(written, policy)).toMatchObject({details: {cause}});
  });

  test('of a failed attempt name a case if the customer must act', () => {
    expect(culprit('urn:ietf:params:acme:error:dns', undefined)).toMatchObject({details: {cause: 'Dns'}});
    expect(culprit('connection refused', undefined)).not.toHaveProperty('details');
  });

  test('of a DNS check have the time as long as the message has it, the wildcard and the CDN', () => {
    const first = saidAt({...missing, oldAnswerSeconds: 3600}, t0);
    expect(first.details).toEqual({endTime: new Date(t0 + 3_600_000).toISOString().replace('.000', '')});
    const published = {reason: 'RecordMissing', ...first};
    expect(saidAt({...missing, oldAnswerSeconds: 3600}, t0 + 60_000, published)).toEqual(first);
    expect(saidAt({...missing, wildcard: 'example.com', behind: 'Example CDN'}, t0).details).toEqual({
      wildcard: '*.example.com',
      service: 'Example CDN',
    });
    expect(saidAt(missing, t0)).toEqual({message: missing.message});
  });

  test('come into a status that lacks them with the next change of the message', () => {
    const wanted = {primary: 'x.localhost'};
    const {status} = decide(world(wanted));
    expect(status.hosts).toMatchObject([{reason: 'HostnameNotAllowed', details: {cause: 'Reserved'}}]);
    const hosts = status.hosts!.map((host) => ({...host, details: undefined}));
    const again = decide(world({...wanted, status: {...status, hosts}}));
    expect(again.status.hosts).toEqual(hosts);
  });

  test('have no value that is longer than the schema allows, nor a part of it', () => {
    const long = 'x'.repeat(longestDetail + 1);
    expect(shortDetails({add: long, place: 'example.com'})).toEqual({place: 'example.com'});
    expect(shortDetails({add: long})).toBeUndefined();
  });
});
