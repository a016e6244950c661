/**
 * Reads the projects over and over, four requests at a time, by a library that retries with its own defaults. After a
 * final failure the next request starts immediately.
 *
 *   API=http://HOST:PORT KEY=dp_... node client.ts ky|axios-retry|plugin-throttling
 */
import {Octokit} from '@octokit/core';
import {throttling} from '@octokit/plugin-throttling';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import ky from 'ky';

const {API: baseUrl = '', KEY} = process.env;
const headers = {authorization: `Bearer ${KEY}`};

const libraries: Record<string, () => () => Promise<unknown>> = {
  ky: () => () => ky.get(`${baseUrl}/v1/projects`, {headers}).json(),
  'axios-retry': () => {
    const client = axios.create({baseURL: baseUrl, headers});
    axiosRetry(client);
    return () => client.get('/v1/projects');
  },
  // It waits until X-RateLimit-Reset, here by a clock that is 15 s ahead.
  'plugin-throttling': () => {
    const {now} = Date;
    Date.now = () => now() + 15_000;
    const throttle = {onRateLimit: () => true, onSecondaryRateLimit: () => true};
    const client = new (Octokit.plugin(throttling))({baseUrl, throttle, log: silent});
    return () => client.request('GET /v1/projects', {headers});
  },
};
const silent = {debug() {}, info() {}, warn() {}, error() {}};

const read = libraries[process.argv[2] ?? '']!();
const worker = async (): Promise<never> => {
  for (;;) await read().catch(() => undefined);
};
await Promise.all([worker(), worker(), worker(), worker()]);
