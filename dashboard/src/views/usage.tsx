import {useQuery} from '@tanstack/react-query';
import type {ReactNode} from 'react';
import type {Account, Session, Usage} from '../api.ts';
import {Bar} from '../parts/bar.tsx';
import {Page, Skeleton} from '../parts/page.tsx';
import {Problem} from '../parts/problem.tsx';
import {maySeeUsage} from '../places.ts';
import {accountQuery, usageQuery} from '../queries.ts';
import {count, day as dayOf, when} from '../words.ts';

const everyMs = 10_000;
/** The API itself stores what it has counted every half minute. */
const usageEveryMs = 60_000;

export default function UsageView({session}: {session: Session}) {
  const {data, error, failureReason} = useQuery({...accountQuery, refetchInterval: everyMs});
  const reason = error ?? failureReason;
  return (
    <Page title="Plan and usage">
      {data === undefined ? (
        reason ? (
          <Problem error={reason} trying={error === null} />
        ) : (
          <Skeleton />
        )
      ) : (
        <Body account={data} />
      )}
      {maySeeUsage(session) && <Keys />}
    </Page>
  );
}

/** A table that scrolls sideways on narrow screens; `title`: the id of its heading. */
function List({title, columns, children}: {title: string; columns: readonly string[]; children: ReactNode}) {
  return (
    <div className="scroll" role="region" aria-labelledby={title} tabIndex={0}>
      <table className="list">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Body({
  account: {
    account,
    plan,
    usage: {minute, day},
    customDomains: {allowed, maxHostnamesPerProject},
    offeredPlans,
  },
}: {
  account: Account;
}) {
  return (
    <>
      <section className="card stack" aria-labelledby="plan">
        <h2 id="plan">{plan === null ? 'No plan' : `Plan ${plan}`}</h2>
        <p>
          {account === null ? 'This namespace belongs to no account.' : `Account ${account}.`}{' '}
          {allowed
            ? `Up to ${count(maxHostnamesPerProject)} hostnames of your own for each project.`
            : 'No custom domains.'}
        </p>
      </section>
      <section className="card stack" aria-labelledby="requests">
        <h2 id="requests">Requests to the API</h2>
        <p className="note">
          All keys of the account share these. This page uses them only after 60 requests of its own in a minute, or 500
          in a day.
        </p>
        <Bar
          label="This minute"
          used={minute.used}
          limit={minute.limit}
          note={`Begins anew at ${when(minute.reset * 1000)}`}
        />
        <Bar label="Today (UTC)" used={day.used} limit={day.limit} note={`Begins anew at ${when(day.reset * 1000)}`} />
      </section>
      {offeredPlans.length > 0 && (
        <div className="card stack">
          <h2 id="plans">Plans</h2>
          <List title="plans" columns={['Plan', 'Hostnames a project', 'Requests a minute', 'Requests a day']}>
            {offeredPlans.map((p) => (
              <tr key={p.name} aria-current={p.name === plan ? 'true' : undefined}>
                <th scope="row">
                  {p.name}
                  {p.name === plan && ' (yours)'}
                </th>
                <td>{p.customDomains.allowed ? count(p.customDomains.maxHostnamesPerProject) : 'none'}</td>
                <td>{count(p.rateLimit.requestsPerMinute)}</td>
                <td>{count(p.rateLimit.requestsPerDay)}</td>
              </tr>
            ))}
          </List>
        </div>
      )}
    </>
  );
}

function Keys() {
  const {data, error, failureReason} = useQuery({...usageQuery, refetchInterval: usageEveryMs});
  const reason = error ?? failureReason;
  return (
    <div className="card stack">
      <h2 id="keys">Requests of each key</h2>
      {data ? <KeyTable usage={data} /> : reason ? <Problem error={reason} trying={error === null} /> : <p>Loading</p>}
    </div>
  );
}

function KeyTable({usage: {since, until, items}}: {usage: Usage}) {
  return (
    <>
      <p className="note">
        Since {dayOf(since)}; days are UTC. Requests of this page are not counted. Counts can be half a minute old.
      </p>
      {items.length === 0 ? (
        <p>No key has made a request since then.</p>
      ) : (
        <List title="keys" columns={['Key', 'Today', 'In all']}>
          {sumsOf(items, until).map(({key, today, inAll}) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{count(today)}</td>
              <td>{count(inAll)}</td>
            </tr>
          ))}
        </List>
      )}
      <p>
        <a href="/v1/usage?format=csv" download>
          Download by day and scope (CSV)
        </a>
      </p>
    </>
  );
}

/** Sums for each key, the busiest key first. */
function sumsOf(items: Usage['items'], lastDay: string): {key: string; today: number; inAll: number}[] {
  const sums = new Map<string, {key: string; today: number; inAll: number}>();
  for (const {key, day, requests} of items) {
    const sum = sums.get(key) ?? {key, today: 0, inAll: 0};
    sums.set(key, sum);
    sum.inAll += requests;
    if (day === lastDay) sum.today += requests;
  }
  return [...sums.values()].toSorted((a, b) => b.inAll - a.inAll);
}
