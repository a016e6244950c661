import {useQuery} from '@tanstack/react-query';
import type {ReactNode} from 'react';
import type {Account, Session, Usage} from '../api.ts';
import {useTexts} from '../language.ts';
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
  const {usage} = useTexts();
  const {data, error, failureReason} = useQuery({...accountQuery, refetchInterval: everyMs});
  const reason = error ?? failureReason;
  return (
    <Page title={usage}>
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
    namespace,
    plan,
    usage: {minute, day},
    customDomains: {allowed, maxHostnamesPerProject},
    offeredPlans,
  },
}: {
  account: Account;
}) {
  const {none, quota: texts} = useTexts();
  return (
    <>
      <section className="card stack" aria-labelledby="plan">
        <h2 id="plan">{plan === null ? texts.noPlan : texts.plan(plan)}</h2>
        <p>
          {texts.account(account ?? namespace)}{' '}
          {allowed ? texts.upTo(count(maxHostnamesPerProject), maxHostnamesPerProject) : texts.noDomains}
        </p>
      </section>
      <section className="card stack" aria-labelledby="requests">
        <h2 id="requests">{texts.requests}</h2>
        <p className="note">{texts.shared}</p>
        <Bar
          label={texts.minute}
          used={minute.used}
          limit={minute.limit}
          note={texts.again(when(minute.reset * 1000))}
        />
        <Bar label={texts.day} used={day.used} limit={day.limit} note={texts.again(when(day.reset * 1000))} />
      </section>
      {offeredPlans.length > 0 && (
        <div className="card stack">
          <h2 id="plans">{texts.plans}</h2>
          <List title="plans" columns={texts.columns}>
            {offeredPlans.map((p) => (
              <tr key={p.name} aria-current={p.name === plan ? 'true' : undefined}>
                <th scope="row">{p.name === plan ? texts.yours(p.name) : p.name}</th>
                <td>{p.customDomains.allowed ? count(p.customDomains.maxHostnamesPerProject) : none}</td>
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
  const {loading, quota: texts} = useTexts();
  const {data, error, failureReason} = useQuery({...usageQuery, refetchInterval: usageEveryMs});
  const reason = error ?? failureReason;
  return (
    <div className="card stack">
      <h2 id="keys">{texts.byKey}</h2>
      {data ? (
        <KeyTable usage={data} />
      ) : reason ? (
        <Problem error={reason} trying={error === null} />
      ) : (
        <p>{loading}</p>
      )}
    </div>
  );
}

function KeyTable({usage: {since, until, items}}: {usage: Usage}) {
  const {quota: texts} = useTexts();
  return (
    <>
      <p className="note">{texts.since(dayOf(since))}</p>
      {items.length === 0 ? (
        <p>{texts.noRequests}</p>
      ) : (
        <List title="keys" columns={texts.keyColumns}>
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
          {texts.download}
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
