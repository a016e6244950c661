/** Recursive resolvers that a check asks in place of the platform's (`--resolver`). */
import type {Settings} from '../../config.ts';
import {endpoint} from '../../setting-values.ts';
import {UsageError} from '../errors.ts';

export type Resolver = Settings['dns']['recursive'][number];

/** As it is written. Throws UsageError. */
export function resolverOf(text: string): Resolver {
  const {data, error} = endpoint(53).safeParse(text);
  if (error) throw new UsageError(`--resolver ${error.issues[0]!.message}`);
  return data;
}

/** The settings with these resolvers, if any are given. Throws UsageError if the platform's mode needs more. */
export function askedOf(resolvers: readonly Resolver[], settings: Settings): Settings {
  const {dns} = settings;
  if (resolvers.length === 0) return settings;
  if (dns.mode === 'RecursiveOnly' && new Set(resolvers.map(({address}) => address)).size < 2) {
    throw new UsageError('name two resolvers (use --resolver twice), because the platform has dns.mode RecursiveOnly');
  }
  return {...settings, dns: {...dns, recursive: [...resolvers]}};
}
