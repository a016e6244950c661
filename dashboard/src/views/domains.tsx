/** Project > Settings > Domains. */
import {useQuery} from '@tanstack/react-query';
import {useState} from 'react';
import {Link} from 'wouter';
import type {Account, Domains, Project} from '../api.ts';
import {Refused} from '../api.ts';
import {AddDomain} from '../parts/add-domain.tsx';
import {HostCard} from '../parts/host.tsx';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {accountQuery, domainsQuery, projectQuery} from '../queries.ts';
import {count} from '../words.ts';

export function DomainsView({project, mayWrite}: {project: string; mayWrite: boolean}) {
  const {data: found, error: missing} = useQuery(projectQuery(project));
  const {data: domains, error, failureReason} = useQuery(domainsQuery(project));
  const {data: account, isPending} = useQuery(accountQuery);
  const [said, say] = useState('');
  const over = (
    <>
      <Link href="/">Projects</Link> / {project} / Settings
    </>
  );
  const reason = missing ?? error ?? (domains === undefined ? failureReason : null);
  if (missing instanceof Refused && missing.status === 404) {
    return (
      <Page title="Domains" over={over}>
        <div className="card empty">
          <h2>{missing.message}</h2>
          <p>
            Go to your <Link href="/">projects</Link>.
          </p>
        </div>
      </Page>
    );
  }
  return (
    <Page title="Domains" over={over} lead={<DefaultHost project={found} />}>
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
  if (project === undefined) return <p>&nbsp;</p>;
  return (
    <p>
      {project.url === null ? (
        project.message
      ) : (
        <>
          Always at{' '}
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
  const {hosts, managedBy} = view;
  const readOnly = managedBy !== null || !mayWrite;
  const hasRoom = account === undefined || hosts.length < account.customDomains.maxHostnamesPerProject;
  return (
    <>
      {managedBy !== null && (
        <div className="notice" role="note">
          <p>
            These domains are managed by <b>{managedBy}</b>: change them where they come from. Verify works here all the
            same.
          </p>
        </div>
      )}
      {managedBy === null && !mayWrite && (
        <div className="notice" role="note">
          <p>You may look, and change nothing: your link or key lacks the scope domains:write.</p>
        </div>
      )}
      {!deployed && (
        <div className="notice" role="note">
          <p>Domains of your own need a successful deploy of this project first.</p>
        </div>
      )}
      {account && <PlanNote account={account} used={hosts.length} />}
      {!readOnly && hasRoom && <AddDomain project={project} primary={view.domains.primary} say={say} />}
      {hosts.length === 0 ? (
        <div className="card empty">
          <h2>No domain of your own yet</h2>
          <p>
            {readOnly || !hasRoom
              ? 'None has been added.'
              : 'Add one above. You will be shown the DNS record that it needs.'}
          </p>
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
  if (plan === null)
    return (
      <div className="notice" role="note">
        <p>
          The plan of this account cannot be found, which is for the platform to mend. No domain can be added until
          then; what was proven before is not taken away.
        </p>
      </div>
    );
  if (allowed && used < most)
    return (
      <p className="note quota">
        {count(used)} of {count(most)} hostnames of the plan {plan} used.
      </p>
    );
  const better = offeredPlans.filter((p) => p.customDomains.maxHostnamesPerProject > most);
  const [next] = better;
  const enough =
    next === undefined
      ? ''
      : ` The plan ${next.name} has ${count(next.customDomains.maxHostnamesPerProject)} for each project.`;
  return (
    <div className="notice" role="note">
      <p>
        {allowed
          ? `All ${count(most)} hostnames that the plan ${plan} has for a project are used.`
          : `The plan ${plan} has no custom domains.`}
        {enough}
      </p>
    </div>
  );
}
