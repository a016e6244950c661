/** Customers' texts in API answers: language negotiation, content, parameters. */
import {afterAll, describe, expect, test} from '@jest/globals';
import {fastify} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import {addConditionalReads} from '../../../operator/http/gate/conditional.ts';
import {addCustomerTexts, withTexts} from '../../../operator/http/texts/customer-texts.ts';
import {languageOf} from '../../../operator/http/texts/language.ts';
import {examples} from '../../../operator/http/openapi/examples.ts';
import * as schemas from '../../../operator/http/schemas.ts';
import {english} from '../../../operator/domain/reasons/texts/en.ts';

describe('The language', () => {
  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['fr', 'en'],
    ['fr, de;q=0.5', 'de'],
    ['en;q=0.4, de;q=0.8', 'de'],
    ['de;q=0', 'en'],
    ['de;q=0, *', 'en'],
    ['de;q=x', 'en'],
    ['en-GB, de;q=0.8, en;q=0.6', 'en'],
    ['de-AT, en', 'de'],
    ['*, de;q=0.5', 'en'],
    ['de;q=0.9,en;q=0.9', 'de'],
    [`${'fr,'.repeat(32)}de`, 'en'],
    ['constructor', 'en'],
  ])('for Accept-Language %j is %s', (header, code) => {
    expect(languageOf(header).code).toBe(code);
  });
});

const {customer: _, ...host} = examples.Hostname;
const server = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
addConditionalReads(server, {chargeAnswer: async () => {}});
addCustomerTexts(server);
const config = {hasETag: true};
const details = {place: 'www.example.com.example.com'};
server.get('/host', {config, schema: {response: {200: schemas.host}}}, async () => ({...host, details}));
server.get('/domains', {schema: {response: {200: schemas.domains}}}, async () => ({
  ...examples.Domains,
  hosts: [host],
}));
server.get('/projects', {schema: {response: {200: schemas.projectPage}}}, async () => ({
  items: [{...examples.Project, reason: 'NoReadyEndpoint'}],
  next: null,
}));
server.get('/key', {schema: {response: {200: schemas.key}}}, async () => ({...examples.ApiKey, reason: 'KeyUsable'}));
server.get('/account', {schema: {response: {200: schemas.account}}}, async () => examples.Account);
afterAll(() => server.close());

const get = (url: string, headers: Record<string, string> = {}) => server.inject({url, headers});

describe('An answer', () => {
  test('about a hostname has texts in English, with parts of the message as parameters and without those parts alone', async () => {
    const {headers, ...answer} = await get('/host');
    expect(headers).toMatchObject({'content-language': 'en', vary: 'Accept-Language'});
    const body = answer.json<Record<string, {parameters: object}>>();
    expect(body).not.toHaveProperty('details');
    expect(body.customer).toMatchObject({
      id: 'RecordMissing',
      language: 'en',
      title: english.texts.RecordMissing.title,
      body: expect.stringContaining('The record was created at www.example.com.example.com instead.'),
      parameters: {hostname: 'www.example.com', place: 'www.example.com.example.com'},
    });
    expect(body.customer).not.toHaveProperty('tone');
  });

  test('about all domains has texts in the preferred language', async () => {
    const {headers, ...answer} = await get('/domains', {'accept-language': 'de-CH, en;q=0.5'});
    expect(headers).toMatchObject({'content-language': 'de'});
    expect(answer.json()).toMatchObject({hosts: [{customer: {language: 'de', title: 'DNS-Eintrag fehlt'}}]});
  });

  test('about projects and keys has texts, too; one without a state has none', async () => {
    expect((await get('/projects')).json()).toMatchObject({items: [{customer: {title: 'Project is not reachable'}}]});
    expect((await get('/key')).json()).toMatchObject({
      customer: {
        title: 'Key works',
        body: 'Requests with this key are accepted until November 26, 2027 at 8:00 AM UTC.',
      },
    });
    const {headers, ...answer} = await get('/account');
    expect(headers).not.toHaveProperty('content-language');
    expect(answer.json()).not.toHaveProperty('customer');
  });

  test('in one language is not current for a client that has it in another', async () => {
    const {etag} = (await get('/host')).headers as {etag: string};
    const asked = {'if-none-match': etag};
    expect((await get('/host', asked)).statusCode).toBe(304);
    expect((await get('/host', asked)).headers).toMatchObject({vary: 'Accept-Language'});
    expect((await get('/host', {...asked, 'accept-language': 'de'})).statusCode).toBe(200);
  });

  test('has the example of the description', () => {
    expect(withTexts(host, english)).toEqual(examples.Hostname);
  });
});
