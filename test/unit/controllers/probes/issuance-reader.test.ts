import {describe, expect, test} from '@jest/globals';
import {IssuanceReader} from '../../../../operator/controllers/probes/issuance-reader.ts';
import type {Client} from '../../../../operator/kube/client/client.ts';

const question = {id: 'attempt', namespace: 'acme', owner: 'uid-domain', request: 'uid-request'};

/** A fake: an API server that is slow until the test lets it answer. */
function slowServer() {
  const {promise: answer, resolve: go} = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const list = async (_kind: unknown, {signal}: {signal: AbortSignal}) => {
    signals.push(signal);
    await answer;
    return {items: []};
  };
  return {client: {list} as unknown as Client, signals, go};
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('A read of what cert-manager says that several attempts share', () => {
  test('goes on when one of them is given up, and ends when all are', async () => {
    const {client, signals, go} = slowServer();
    const reader = new IssuanceReader(client);
    const [first, second] = [new AbortController(), new AbortController()];
    const reads = [first, second].map(({signal}) => reader.read(question, signal));
    await settle();
    expect(signals).toHaveLength(2);
    first.abort();
    expect(signals.map((s) => s.aborted)).toEqual([false, false]);
    second.abort();
    expect(signals.map((s) => s.aborted)).toEqual([true, true]);
    go();
    await Promise.all(reads);
  });

  test('is made anew for one that comes when the others have given up', async () => {
    const {client, signals, go} = slowServer();
    const reader = new IssuanceReader(client);
    const [first, second] = [new AbortController(), new AbortController()];
    const given = reader.read(question, first.signal);
    first.abort();
    const wanted = reader.read(question, second.signal);
    await settle();
    go();
    await Promise.all([given, wanted]);
    expect(signals.map((s) => s.aborted)).toEqual([true, true, false, false]);
  });
});
