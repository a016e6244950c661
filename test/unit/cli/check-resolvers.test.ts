import {describe, expect, test} from '@jest/globals';
import {stringify} from 'yaml';
import {askedOf, resolverOf} from '../../../operator/cli/check/resolvers.ts';
import {UsageError} from '../../../operator/cli/errors.ts';
import {parseSettings} from '../../../operator/config.ts';

const settingsOf = (dns: object) =>
  parseSettings(
    stringify({
      platform: {zone: 'apps.platform.test'},
      edge: {addresses: ['192.0.2.10']},
      issuerRef: {name: 'letsencrypt'},
      ingressClassName: 'traefik',
      defaultPlan: 'free',
      redirector: {service: 'redirector'},
      dns,
    }),
  );
const closed = settingsOf({mode: 'RecursiveOnly', recursive: ['192.0.2.53', '192.0.2.54']});
const asked = (settings: typeof closed, ...resolvers: string[]) => askedOf(resolvers.map(resolverOf), settings);

describe('--resolver', () => {
  test('takes the place of the platform’s resolvers, and changes nothing else', () => {
    const settings = settingsOf({recursive: ['192.0.2.53'], allowPrivateAddresses: true});
    expect(asked(settings, '198.51.100.53:5353')).toEqual({
      ...settings,
      dns: {...settings.dns, recursive: [{address: '198.51.100.53', port: 5353}]},
    });
    expect(asked(settings)).toEqual(settings);
    expect(asked(closed, '198.51.100.53', '198.51.100.54').dns.recursive).toHaveLength(2);
  });

  test.each([[['198.51.100.53']], [['198.51.100.53', '198.51.100.53:5353']]])(
    'is wanted twice, with two addresses, where the platform has dns.mode RecursiveOnly: %j',
    (resolvers) => {
      const ask = () => asked(closed, ...resolvers);
      expect(ask).toThrow(UsageError);
      expect(ask).toThrow('name two resolvers (use --resolver twice), because the platform has dns.mode RecursiveOnly');
    },
  );
});
