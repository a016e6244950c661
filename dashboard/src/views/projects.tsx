import {useQuery} from '@tanstack/react-query';
import {Link} from 'wouter';
import type {Project} from '../api.ts';
import {useTexts} from '../language.ts';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {projectsQuery} from '../queries.ts';
import {count, textsOf} from '../words.ts';

function Row({project}: {project: Project}) {
  const {projectList: texts} = useTexts();
  const {
    name,
    host,
    deployed,
    domains: {primary, live, total},
  } = project;
  return (
    <li className="card row">
      <div>
        <h2>
          <Link href={`/projects/${name}`}>{name}</Link>
        </h2>
        <p className="note">{primary ?? host ?? textsOf(project).body}</p>
      </div>
      <p className="tail">
        {total === 0 ? (
          <span className="badge" data-tone={deployed ? 'plain' : 'wait'}>
            {deployed ? texts.noDomain : texts.notDeployed}
          </span>
        ) : (
          <span className="badge" data-tone={live === total ? 'good' : 'wait'}>
            {texts.live(count(live), count(total))}
          </span>
        )}
      </p>
    </li>
  );
}

export default function ProjectsView() {
  const {projects, projectList: texts} = useTexts();
  const {data, error, failureReason} = useQuery(projectsQuery);
  const reason = error ?? failureReason;
  return (
    <Page title={projects} lead={<p>{texts.lead}</p>}>
      {data === undefined ? (
        reason ? (
          <Problem error={reason} trying={error === null} />
        ) : (
          <Skeleton rows={3} />
        )
      ) : data.length === 0 ? (
        <div className="card empty">
          <h2>{texts.empty}</h2>
          <p>{texts.emptyText}</p>
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
