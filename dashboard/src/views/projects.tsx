import {useQuery} from '@tanstack/react-query';
import {Link} from 'wouter';
import type {Project} from '../api.ts';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {projectsQuery} from '../queries.ts';

function Row({
  project: {
    name,
    url,
    host,
    deployed,
    message,
    domains: {primary, live, total},
  },
}: {
  project: Project;
}) {
  return (
    <li className="card row">
      <div>
        <h2>
          <Link href={`/projects/${name}`}>{name}</Link>
        </h2>
        <p className="note">{primary ?? host ?? url ?? message}</p>
      </div>
      <p className="tail">
        {total === 0 ? (
          <span className="badge" data-tone={deployed ? 'plain' : 'wait'}>
            {deployed ? 'No own domain' : 'Not deployed'}
          </span>
        ) : (
          <span className="badge" data-tone={live === total ? 'good' : 'wait'}>
            {live} of {total} live
          </span>
        )}
      </p>
    </li>
  );
}

export function ProjectsView() {
  const {data, error, failureReason} = useQuery(projectsQuery);
  const reason = error ?? failureReason;
  return (
    <Page title="Projects" lead={<p>Choose a project to see and change its domains.</p>}>
      {data === undefined ? (
        reason ? (
          <Problem error={reason} trying={error === null} />
        ) : (
          <Skeleton rows={3} />
        )
      ) : data.length === 0 ? (
        <div className="card empty">
          <h2>No project yet</h2>
          <p>A project appears here as soon as it is published.</p>
        </div>
      ) : (
        <ul className="plain stack">
          {data.map((project) => (
            <Row key={project.name} project={project} />
          ))}
        </ul>
      )}
    </Page>
  );
}
