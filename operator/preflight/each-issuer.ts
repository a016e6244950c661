import type {IssuerPolicy} from '../domain/certificates/choose-issuer.ts';
import type {PreflightAnswer, PreflightWorld} from './question.ts';

const worst = ['failed', 'unknown', 'ok'] as const;

/** Asks the same about each issuer. The worst answer counts, and each is said with its issuer if there are several. */
export async function ofEachIssuer(
  {issuers}: Pick<PreflightWorld, 'issuers'>,
  ask: (issuer: IssuerPolicy) => Promise<PreflightAnswer>,
): Promise<PreflightAnswer> {
  const answers = await Promise.all(issuers.map(async (issuer) => ({issuer, ...(await ask(issuer))})));
  const [only] = answers;
  if (answers.length === 1 && only) {
    const {issuer: _, ...answer} = only;
    return answer;
  }
  const said = (text: (a: PreflightAnswer) => string | undefined) =>
    answers.flatMap((a) => (text(a) === undefined ? [] : `${a.issuer.issuerRef.name}: ${text(a)}`)).join('; ');
  const remedy = said((a) => a.remedy);
  return {
    outcome: worst.find((outcome) => answers.some((a) => a.outcome === outcome))!,
    seen: said((a) => a.seen),
    ...(remedy !== '' && {remedy}),
  };
}

/** `the issuer letsencrypt`, `the issuers letsencrypt, google`. */
export const namesOf = ({issuers}: Pick<PreflightWorld, 'issuers'>, one: string, many: string): string =>
  `${issuers.length === 1 ? one : many} ${issuers.map(({issuerRef}) => issuerRef.name).join(', ')}`;
