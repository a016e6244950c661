/** Fields that a template leaves null: each reader of a spec takes them for absent. */
import {describe, expect, test} from '@jest/globals';
import type {ApiKeySpec} from '../../../operator/api/api-key.ts';
import type {ApiKey, CustomDomain} from '../../../operator/api/foreign.ts';
import {decideApiKey, hashToken, liveHashes, makeToken, nextChange} from '../../../operator/domain/api-key.ts';
import {decide} from '../../../operator/domain/lifecycle.ts';
import {projectLimitOf} from '../../../operator/domain/project/limit.ts';
import {hostState} from '../../../operator/http/audit.ts';
import {recognise, tokenEnds, whyKeyEnded} from '../../../operator/http/gate/auth.ts';
import {hostnamesOf} from '../../../operator/resources/relations.ts';
import {domain, enterprise, t0, world} from '../../support/world.ts';

/** What a reader returns, or the text of its error. */
function outcome<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

const withSpec = (spec: Partial<CustomDomain['spec']>): CustomDomain => {
  const made = domain();
  return {...made, spec: {...made.spec, ...spec}};
};
const withoutRedirects = withSpec({redirects: null});
const withoutTarget = withSpec({redirects: [{from: 'old.example.com', to: null, status: 301}]});

describe('Null in a CustomDomain', () => {
  test('for redirects means none: the same decision', () => {
    const given = world();
    expect(outcome(() => decide({...given, domain: withoutRedirects, first: withoutRedirects}))).toEqual(decide(given));
  });

  test('for redirects means none, by the index of hostnames', () => {
    expect(outcome(() => hostnamesOf(withoutRedirects))).toEqual(['docs.example.com']);
  });

  test('for redirects means none, in the audit log', () => {
    expect(outcome(() => hostState(withoutRedirects, 'old.example.com'))).toBeNull();
  });

  test('for the target of a redirect means the primary: the same decision', () => {
    const given = world({redirects: [{from: 'old.example.com'}]});
    expect(decide({...given, domain: withoutTarget, first: withoutTarget})).toEqual(decide(given));
  });
});

const token = makeToken({namespace: 'acme', name: 'ci'});
const hash = hashToken(token);
const uid = 'uid-key';
const keyWith = (spec: Partial<ApiKeySpec>): ApiKey => ({
  apiVersion: 'doorplate.dev/v1alpha1',
  kind: 'ApiKey',
  metadata: {namespace: 'acme', name: 'ci', uid, generation: 1},
  spec: {hashes: [{sha256: hash}], scopes: ['domains:read'], ...spec},
});
const nulls = keyWith({expireTime: null, rateLimit: null, hashes: [{sha256: hash, expireTime: null}]});
const facts = {bansOf: () => []};

describe('Null in an ApiKey means that it has no end', () => {
  test('for its status, its live tokens and what changes with time', () => {
    expect(outcome(() => decideApiKey(nulls, facts, t0))).toEqual(decideApiKey(keyWith({}), facts, t0));
    expect([liveHashes(nulls.spec, t0), nextChange(nulls.spec, facts, t0)]).toEqual([[hash], undefined]);
  });

  test('for a request', () => {
    expect(recognise(`Bearer ${token}`, () => nulls, t0)).toEqual({key: nulls, hash});
    expect(outcome(() => tokenEnds(nulls, hash))).toBeUndefined();
  });

  test('for a session', () => {
    const used = {namespace: 'acme', name: 'ci', uid, hash, network: '192.0.2.1', scopes: ['domains:read']};
    const now = {findKey: () => nulls, bannedUntil: () => undefined, now: t0};
    expect(whyKeyEnded(used, now)).toBeUndefined();
  });
});

test('Null in a Plan means that the number of Projects has no limit', () => {
  const plan = {...enterprise, spec: {...enterprise.spec, maxProjects: null}};
  expect(projectLimitOf({account: 'acme', namespaceUID: 'uid', plan})).toBeUndefined();
});
