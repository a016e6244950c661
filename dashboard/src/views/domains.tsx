/** Project > Settings > Domains. */
import {useQuery} from '@tanstack/react-query';
import {useState} from 'react';
import {Link} from 'wouter';
import type {Account, Domains, Project} from '../api.ts';
import {Refused} from '../api.ts';
import {useTexts} from '../language.ts';
import {AddDomain} from '../parts/add-domain.tsx';
import {HostCard} from '../parts/host.tsx';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {accountQuery, domainsQuery, projectQuery} from '../queries.ts';
import {count, textsOf} from '../words.ts';

export function DomainsView({project, mayWrite}: {project: string; mayWrite: boolean}) {
  const texts = useTexts();
  const {data: found, error: missing} = useQuery(projectQuery(project));
  const {data: domains, error, failureReason} = useQuery(domainsQuery(project));
  const {data: account, isPending} = useQuery(accountQuery);
  const [said, say] = useState('');
  const over = (
    <>
      <Link href="/">{texts.projects}</Link> / {project} / {texts.settings}
    </>
  );
  const reason = missing ?? error ?? (domains === undefined ? failureReason : null);
  if (missing instanceof Refused && missing.status === 404) {
    return (
      <Page title={texts.domains} over={over}>
        <div className="card empty">
          <h2>{texts.view.missing}</h2>
          <p>
            <Link href="/">{texts.view.toProjects}</Link>
          </p>
        </div>
      </Page>
    );
  }
  return (
    <Page title={texts.domains} over={over} lead={<DefaultHost project={found} />}>
      <p className="hidden" role="status">
        {said}
      </p>
      {reason && <Problem error={reason} trying={error === null && missing === null} />}
      {domains === undefined || isPending ? (
        !reason && <Skeleton />
      ) : (
        <Body {...{project, domains, account, mayWrite, deployed: found?.deployed ?? true, say}} />
      )}
    </Page>
  );
}

function DefaultHost({project}: {project: Project | undefined}) {
  const {view} = useTexts();
  if (project === undefined) return <p>&nbsp;</p>;
  return (
    <p>
      {project.url === null ? (
        textsOf(project).body
      ) : (
        <>
          {view.alwaysAt}{' '}
          <a href={project.url} rel="noreferrer">
            {project.host}
          </a>
        </>
      )}
    </p>
  );
}

function Body({
  project,
  domains: {view, etag},
  account,
  mayWrite,
  deployed,
  say,
}: {
  project: string;
  domains: Domains;
  account: Account | undefined;
  mayWrite: boolean;
  deployed: boolean;
  say: (outcome: string) => void;
}) {
  const {view: texts} = useTexts();
  const {hosts, managedBy} = view;
  const readOnly = managedBy !== null || !mayWrite;
  const hasRoom = account === undefined || hosts.length < account.customDomains.maxHostnamesPerProject;
  return (
    <>
      {managedBy !== null && (
        <div className="notice" role="note">
          <p>{texts.managed}</p>
        </div>
      )}
      {managedBy === null && !mayWrite && (
        <div className="notice" role="note">
          <p>{texts.viewOnly}</p>
        </div>
      )}
      {!deployed && (
        <div className="notice" role="note">
          <p>{texts.notDeployed}</p>
        </div>
      )}
      {account && <PlanNote account={account} used={hosts.length} />}
      {!readOnly && hasRoom && <AddDomain project={project} primary={view.domains.primary} say={say} />}
      {hosts.length === 0 ? (
        <div className="card empty">
          <h2>{texts.empty}</h2>
          <p>{readOnly || !hasRoom ? texts.emptyNone : texts.emptyAdd}</p>
        </div>
      ) : (
        <ul className="plain stack">
          {hosts.map((host) => (
            <HostCard
              key={host.hostname}
              {...{
                project,
                host,
                primary: view.domains.primary,
                etag,
                readOnly,
                mayVerify: mayWrite,
                checkedFor: view.checkedFor,
                reissuedFor: view.reissuedFor,
                say,
              }}
            />
          ))}
        </ul>
      )}
    </>
  );
}

/** The limit of the plan. If it is too small, names a plan that is large enough. */
function PlanNote({
  account: {
    plan,
    customDomains: {allowed, maxHostnamesPerProject: most},
    offeredPlans,
  },
  used,
}: {
  account: Account;
  used: number;
}) {
  const {plan: texts} = useTexts();
  if (plan === null)
    return (
      <div className="notice" role="note">
        <p>{texts.missing}</p>
      </div>
    );
  if (allowed && used < most) return <p className="note quota">{texts.used(count(used), count(most), plan)}</p>;
  const better = offeredPlans.filter((p) => p.customDomains.maxHostnamesPerProject > most);
  const [next] = better;
  const nextMost = next?.customDomains.maxHostnamesPerProject ?? 0;
  return (
    <div className="notice" role="note">
      <p>
        {allowed ? texts.full(count(most), most, plan) : texts.noDomains(plan)}{' '}
        {next && texts.larger(next.name, count(nextMost), nextMost)}
      </p>
    </div>
  );
}
