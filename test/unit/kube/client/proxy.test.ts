import {describe, expect, test} from '@jest/globals';
import {proxyFor, proxyUrl} from '../../../../operator/kube/client/proxy.ts';

const asked = (server: string, env: NodeJS.ProcessEnv) => proxyFor(server, env)?.href;

describe('A server is reached', () => {
  /** Of golang.org/x/net/http/httpproxy, proxy_test.go: TestUseProxy. */
  const exceptions =
    'foobar.com, .barbaz.net, *.wildcard.io, 192.168.1.1, 192.168.1.2:81, 192.168.1.3:80, 10.0.0.0/30, 2001:db8::52:0:1, ' +
    '[2001:db8::52:0:2]:443, [2001:db8::52:0:3]:80, 2002:db8:a::45/64';
  test.each([
    ['localhost', 'directly'],
    ['127.0.0.1', 'directly'],
    ['127.0.0.2', 'directly'],
    ['[::1]', 'directly'],
    ['[::2]', 'by the proxy'],
    ['192.168.1.1', 'directly'],
    ['192.168.1.2', 'by the proxy'],
    ['192.168.1.3', 'directly'],
    ['192.168.1.4', 'by the proxy'],
    ['10.0.0.2', 'directly'],
    ['[2001:db8::52:0:1]', 'directly'],
    ['[2001:db8::52:0:2]', 'by the proxy'],
    ['[2001:db8::52:0:3]', 'directly'],
    ['[2002:db8:a::123]', 'directly'],
    ['[fe80::424b:c8be:1643:a1b6]', 'by the proxy'],
    ['barbaz.net', 'by the proxy'],
    ['www.barbaz.net', 'directly'],
    ['foobar.com', 'directly'],
    ['www.foobar.com', 'directly'],
    ['WWW.FooBar.com', 'directly'],
    ['foofoobar.com', 'by the proxy'],
    ['baz.com', 'by the proxy'],
    ['localhost.net', 'by the proxy'],
    ['local.localhost', 'by the proxy'],
    ['barbarbaz.net', 'by the proxy'],
    ['wildcard.io', 'by the proxy'],
    ['nested.wildcard.io', 'directly'],
    ['awildcard.io', 'by the proxy'],
  ])('%s: %s, as Go has it', (host, expected) => {
    const proxy = asked(`http://${host}`, {HTTP_PROXY: 'http://proxy:3128', NO_PROXY: exceptions});
    expect(proxy === undefined ? 'directly' : 'by the proxy').toBe(expected);
  });

  test.each<[string, string, NodeJS.ProcessEnv, string | undefined]>([
    ['without a word about proxies', 'https://10.96.0.1:443', {}, undefined],
    ['as HTTPS_PROXY says', 'https://10.96.0.1:443', {HTTPS_PROXY: 'http://proxy:3128'}, 'http://proxy:3128/'],
    ['as https_proxy says', 'https://10.96.0.1:443', {https_proxy: 'http://proxy:3128'}, 'http://proxy:3128/'],
    ['with no scheme', 'https://10.96.0.1:443', {HTTPS_PROXY: 'proxy:3128'}, 'http://proxy:3128/'],
    ['over https by what is for http', 'https://10.96.0.1:443', {HTTP_PROXY: 'http://proxy:3128'}, undefined],
    [
      'in the network of Services',
      'https://10.96.0.1:443',
      {HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '.svc,10.96.0.0/12'},
      undefined,
    ],
    ['with everything excepted', 'https://api.test:6443', {HTTPS_PROXY: 'http://proxy:3128', no_proxy: '*'}, undefined],
    [
      'on another port than the exception',
      'https://api.test:6443',
      {HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'api.test:443, :6443, ,'},
      'http://proxy:3128/',
    ],
  ])('%s', (_, server, env, expected) => {
    expect(asked(server, env)).toBe(expected);
  });

  test('not at all by what is no URL, and the message does not hold the password', () => {
    expect(() => asked('https://api.test', {HTTPS_PROXY: 'ftp://me:secret@proxy'})).toThrow(
      /^HTTPS_PROXY is not the URL of a proxy$/,
    );
    expect(() => proxyUrl('', 'kubeconfig: proxy-url')).toThrow('kubeconfig: proxy-url is not');
  });
});
