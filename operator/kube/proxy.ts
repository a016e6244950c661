import {BlockList, isIP} from 'node:net';

/**
 * The proxy by which a server is reached, as HTTPS_PROXY (for https:), HTTP_PROXY and NO_PROXY say, upper case before lower: read
 * as Go reads them (golang.org/x/net/http/httpproxy), because kubectl and every other controller of a cluster do. So NO_PROXY may
 * hold networks (`10.0.0.0/8`), addresses, `example.com` with all names below it, `.example.com` for these alone, each with a port, or
 * `*`; and nothing on this machine is asked by a proxy. Undefined where there is none. Throws when the variable is no URL.
 */
export function proxyFor(server: string, env: NodeJS.ProcessEnv = process.env): URL | undefined {
  const {protocol, host: address, port} = new URL(server);
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = of(env, name);
  if (value === '') return undefined;
  const host = address
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  const target = {host, port: port || (protocol === 'https:' ? '443' : '80')};
  return isDirect(target, of(env, 'NO_PROXY')) ? undefined : proxyUrl(value, name);
}

/** The proxy of that URL; `host:port` is one of http. `from`: what set it, for the message of the TypeError where it is none. */
export function proxyUrl(value: string, from: string): URL {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url && url.host !== '' && /^(https?|socks5?):$/.test(url.protocol)) return url;
  // Not the value: it may hold a password.
  throw new TypeError(`${from} is not the URL of a proxy`);
}

interface Target {
  host: string;
  port: string;
}

const of = (env: NodeJS.ProcessEnv, name: string): string => env[name] || env[name.toLowerCase()] || '';

function isDirect({host, port}: Target, exceptions: string): boolean {
  if (host === 'localhost' || contains(host, '127.0.0.0/8') || contains(host, '::1/128')) return true;
  return exceptions
    .split(',')
    .map((rule) => rule.trim().toLowerCase())
    .some((rule) => rule !== '' && (rule === '*' || contains(host, rule) || matches({host, port}, rule)));
}

/** Whether a rule is a network, and that address is in it. */
function contains(host: string, rule: string): boolean {
  const [network = '', bits = ''] = rule.split('/');
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(host, type);
}

/** Whether a rule names that host: an address, or a name, each perhaps with a port. */
function matches({host, port}: Target, rule: string): boolean {
  const [, bracketed, plain, only] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(rule) ?? [undefined, undefined, rule];
  const name = (bracketed ?? plain ?? '').replace(/^\*\./, '.');
  if (name === '' || (only !== undefined && only !== port)) return false;
  if (isIP(name)) return isIP(host) === isIP(name) && contains(host, `${name}/${isIP(name) === 4 ? 32 : 128}`);
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}
