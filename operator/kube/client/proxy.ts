import {BlockList, isIP} from 'node:net';

/**
 * The proxy for a server, from HTTPS_PROXY (for https:), HTTP_PROXY and NO_PROXY. Upper-case names take precedence over lower-case
 * names. The variables are read as Go reads them (golang.org/x/net/http/httpproxy), because kubectl and all other controllers of a
 * cluster do.
 *
 * NO_PROXY may contain networks (`10.0.0.0/8`), addresses, `example.com` with all names below it, `.example.com` for only the names
 * below it, or `*`. Addresses and names may have a port. Servers on this machine are always reached directly.
 *
 * Undefined if no proxy applies. Throws when the variable is not a URL.
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

/**
 * The proxy with the given URL; `host:port` means http. `from`: the setting's name, for the message of the TypeError that an
 * invalid URL causes.
 */
export function proxyUrl(value: string, from: string): URL {
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  if (url && url.host !== '' && /^(https?|socks5?):$/.test(url.protocol)) return url;
  // Omit the value: it may contain a password.
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

/** Whether the rule is a network that contains the host's address. */
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

/** Whether the rule names that host: an address or a name, optionally with a port. */
function matches({host, port}: Target, rule: string): boolean {
  const [, bracketed, plain, only] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(rule) ?? [undefined, undefined, rule];
  const name = (bracketed ?? plain ?? '').replace(/^\*\./, '.');
  if (name === '' || (only !== undefined && only !== port)) return false;
  if (isIP(name)) return isIP(host) === isIP(name) && contains(host, `${name}/${isIP(name) === 4 ? 32 : 128}`);
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}
