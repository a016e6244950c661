import {describe, expect, test} from '@jest/globals';
import {makeIngress} from '../../../operator/domain/routes/ingress.ts';
import type {Route} from '../../../operator/domain/routes/routes.ts';
import {routesOf} from '../../../operator/domain/routes/routes.ts';

const redirector = {namespace: 'doorplate-system', service: 'doorplate-redirector', port: 80};
const traefik = {ingressClassName: 'traefik', traefik: true};
const nginx = {ingressClassName: 'nginx', traefik: false};
const entryPoints = (on: string) => ({annotations: {'traefik.ingress.kubernetes.io/router.entrypoints': on}});
const rules = (host: string, service: string, port: object) => [
  {host, http: {paths: [{path: '/', pathType: 'Prefix', backend: {service: {name: service, port}}}]}},
];

const service = {name: 'web', port: 80};
const [served, http] = routesOf(
  'serves',
  {name: 'docs-1', namespace: 'acme', host: 'docs.example.com', secretName: 'docs-1', service},
  redirector,
) as [Route, Route];
const [source] = routesOf(
  'redirects',
  {name: 'old-1', namespace: 'acme', host: 'old.example.com', secretName: 'old-1', service},
  redirector,
) as [Route];

describe('A route as an Ingress', () => {
  const rows: [string, Route, typeof traefik, object | undefined][] = [
    [
      'serves over HTTPS in the tenant’s namespace',
      served,
      traefik,
      {
        metadata: {name: 'docs-1', namespace: 'acme', ...entryPoints('websecure')},
        spec: {
          ingressClassName: 'traefik',
          tls: [{hosts: ['docs.example.com'], secretName: 'docs-1'}],
          rules: rules('docs.example.com', 'web', {number: 80}),
        },
      },
    ],
    [
      'takes plain HTTP to the redirector, without a certificate',
      http,
      traefik,
      {
        metadata: {name: 'docs-1-http', namespace: 'doorplate-system', ...entryPoints('web')},
        spec: {ingressClassName: 'traefik', rules: rules('docs.example.com', 'doorplate-redirector', {number: 80})},
      },
    ],
    [
      'redirects on both listeners',
      source,
      traefik,
      {
        metadata: {name: 'old-1', namespace: 'doorplate-system', ...entryPoints('web,websecure')},
        spec: {
          ingressClassName: 'traefik',
          tls: [{hosts: ['old.example.com'], secretName: 'old-1'}],
          rules: rules('old.example.com', 'doorplate-redirector', {number: 80}),
        },
      },
    ],
    [
      'has no annotation for another class',
      served,
      nginx,
      {
        metadata: {name: 'docs-1', namespace: 'acme'},
        spec: {
          ingressClassName: 'nginx',
          tls: [{hosts: ['docs.example.com'], secretName: 'docs-1'}],
          rules: rules('docs.example.com', 'web', {number: 80}),
        },
      },
    ],
    ['for HTTP alone is not rendered for another class', http, nginx, undefined],
    [
      'without a Secret has no tls: the edge’s own certificate serves',
      {...served, name: 'd', host: 'd.apps.platform.test', secretName: undefined},
      nginx,
      {
        metadata: {name: 'd', namespace: 'acme'},
        spec: {ingressClassName: 'nginx', rules: rules('d.apps.platform.test', 'web', {number: 80})},
      },
    ],
    [
      'names a port by its name',
      {...served, name: 'd', host: 'd.example.com', secretName: undefined, to: {service: 'web', port: 'http'}},
      nginx,
      {
        metadata: {name: 'd', namespace: 'acme'},
        spec: {ingressClassName: 'nginx', rules: rules('d.example.com', 'web', {name: 'http'})},
      },
    ],
  ];
  test.each(rows)('%s', (_, route, edge, expected) => {
    expect(makeIngress(route, edge)).toEqual(
      expected && {apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', ...expected},
    );
  });

  test('leaves the challenge path of ACME to the solver: only the root prefix is taken, which any longer path goes before', () => {
    for (const route of [served, http, source]) {
      expect(
        makeIngress(route, traefik)!.spec.rules!.flatMap((r) => r.http!.paths.map((p) => [p.pathType, p.path])),
      ).toEqual([['Prefix', '/']]);
    }
  });
});
