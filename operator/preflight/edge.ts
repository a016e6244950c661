import {at} from '../domain/routes/edge.ts';
import {type ProbeFinding, hangsUp, probeEdge, refusesName} from '../edge/probe.ts';
import type {PreflightQuestion} from './question.ts';
import {nobodysName} from './wildcard.ts';

const timeoutMs = 5000;
const proxied = 'If it accepts only connections with the PROXY protocol, set edge.proxyProtocol.';

/** A hostname is Live when it was seen on the edge: where Pods do not reach that by its public address, none ever is. */
export const edge: PreflightQuestion = {
  name: 'edge',
  asks: () => 'Can Pods reach the edge over TLS?',
  ask: async (
    {
      settings: {
        platform,
        edge: {proxyProtocol},
      },
      edgeAddresses: {endpoints},
    },
    signal,
  ) => {
    if (endpoints.length === 0)
      return {
        outcome: 'failed',
        seen: 'No address of the edge is known.',
        remedy: 'Ensure that the Service in edge.service or edge.probe has an address, or that edge.hostname resolves.',
      };
    const findings = await probeEdge(nobodysName(platform.zone), [...endpoints], {timeoutMs, signal, proxyProtocol});
    const seen = findings.map(told).join('; ');
    const faults = findings.flatMap((finding) => whyNot(finding) ?? []);
    if (faults.length === 0) return {outcome: 'ok', seen};
    // No project has this name, so no certificate exists for it. Envoy closes the connection without an alert in that case.
    if (platform.tls === 'PerProject' && faults.every((fault) => fault === hangsUp))
      return {outcome: 'unknown', seen, remedy: `Check yourself that a hostname becomes Live. ${proxied}`};
    return {
      outcome: 'failed',
      seen,
      remedy:
        'Let Pods reach it there (networkPolicy.ingressController). Or set edge.probe to an address that they reach, such as ' +
        `the ingress controller's Service, NAME.NAMESPACE.svc. ${proxied}`,
    };
  },
};

/** An edge that has no certificate for a name that nobody has was reached. */
const whyNot = (finding: ProbeFinding): string | undefined =>
  'unreachable' in finding && finding.unreachable !== refusesName ? finding.unreachable : undefined;

function told(finding: ProbeFinding): string {
  const why = whyNot(finding);
  return why === undefined ? `${at(finding)} speaks TLS` : `${at(finding)}: ${why}`;
}
