import {expect, test} from '@jest/globals';
import {sayAgain} from '../../../../operator/domain/host/outcome.ts';

test('a published state is repeated with the actor that it waits for, which may differ from that of its reason', () => {
  const blocked = {phase: 'Live', reason: 'CAABlocksIssuer', message: 'No issuer.', waitingFor: 'Platform'} as const;
  const published = {...blocked, hostname: 'docs.example.com', role: 'Primary', since: '2026-03-01T11:30:00Z'} as const;
  expect(sayAgain(published)).toEqual({answer: blocked});
});
