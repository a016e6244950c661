import type {AcmeIssuer, AcmeSolver, IssuerRef} from '../api/foreign.ts';
import {ofEachIssuer} from './each-issuer.ts';
import type {PreflightAnswer, PreflightQuestion, PreflightWorld} from './question.ts';

/** Without it no certificate is issued: cert-manager waits for the issuer, and the CA asks where the class does not serve. */
export const issuer: PreflightQuestion = {
  name: 'issuer',
  asks: ({issuers, settings: {ingressClassName}}) =>
    issuers.length === 1
      ? `Is the ${issuers[0]!.issuerRef.kind} ${issuers[0]!.issuerRef.name} ready, with a solver of the class ${ingressClassName}?`
      : `Are the issuers ${issuers.map(({issuerRef}) => issuerRef.name).join(', ')} ready, with solvers of the class ${ingressClassName}?`,
  ask: (world, signal) => ofEachIssuer(world, ({issuerRef}) => askOf(issuerRef, world, signal)),
};

async function askOf(
  issuerRef: IssuerRef,
  {settings, hasCertManager, readIssuer}: PreflightWorld,
  signal: AbortSignal,
): Promise<PreflightAnswer> {
  if (issuerRef.group !== 'cert-manager.io')
    return {outcome: 'unknown', seen: `Issuers of ${issuerRef.group} are not checked.`};
  if (!(await hasCertManager()))
    return {
      outcome: 'failed',
      seen: 'cert-manager is not installed: the cluster has no kind Certificate.',
      remedy: 'Install it (docs/how-to/install.md). Until then, no hostname gets a certificate; removals work.',
    };
  const found = await readIssuer(issuerRef, signal);
  const its = `${issuerRef.kind} ${issuerRef.name}`;
  if (!found)
    return {
      outcome: 'failed',
      seen: `There is no ${its}.`,
      remedy: 'Create it (docs/how-to/letsencrypt.md), or name another in issuerRef.',
    };
  return unready(found, its) ?? solved(found.spec?.acme?.solvers, found, settings);
}

function unready({status}: AcmeIssuer, its: string): PreflightAnswer | undefined {
  const ready = status?.conditions?.find(({type}) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  return {
    outcome: 'failed',
    seen: ready ? `${its} is not ready: ${ready.reason}: ${ready.message}` : `${its} does not report that it is ready.`,
    remedy: `kubectl describe ${its.toLowerCase().replace(' ', '.cert-manager.io ')} shows what cert-manager lacks.`,
  };
}

/**
 * Customers' hostnames are arbitrary, so only a solver without a selector covers all of them. The first solver counts (cert-manager's API
 * reference).
 */
function solved(
  solvers: readonly AcmeSolver[] | undefined,
  {spec}: AcmeIssuer,
  {ingressClassName}: PreflightWorld['settings'],
): PreflightAnswer {
  if (!spec?.acme)
    return {outcome: 'ok', seen: 'It is ready. It is not an ACME issuer, so no challenge has to be solved.'};
  const solver = solvers?.find(({selector = {}}) =>
    Object.values(selector).every((of) => Object.keys(of).length === 0),
  );
  const set = `Add a solver without a selector: http01: {ingress: {ingressClassName: ${ingressClassName}}}.`;
  if (!solver)
    return {outcome: 'failed', seen: 'It is ready, but none of its solvers is for every hostname.', remedy: set};
  const {ingress} = solver.http01 ?? {};
  if (!ingress)
    return {
      outcome: 'unknown',
      seen: `It is ready; its solvers for hostnames use ${solver.dns01 ? 'dns01' : 'http01 without an ingress'}.`,
      remedy: solver.dns01
        ? `DNS-01 works only if your provider may write in customers' zones. Otherwise: ${set}`
        : `Check yourself that it answers on the edge. Otherwise: ${set}`,
    };
  const its = ingress.ingressClassName ?? ingress.class;
  if (its === ingressClassName) return {outcome: 'ok', seen: `It is ready, and its solver uses the class ${its}.`};
  if (its === undefined)
    return {
      outcome: 'unknown',
      seen: 'It is ready; its solver names no class.',
      remedy: `Set http01.ingress.ingressClassName to ${ingressClassName} in it.`,
    };
  return {
    outcome: 'failed',
    seen: `It is ready, but its solver uses the class ${its}.`,
    remedy: `Set http01.ingress.ingressClassName to ${ingressClassName} in it, or ingressClassName to ${its}.`,
  };
}
