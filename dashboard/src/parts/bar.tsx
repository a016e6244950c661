import {count} from '../words.ts';

/** How much of something is used. */
export function Bar({label, used, limit, note}: {label: string; used: number; limit: number; note?: string}) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <div className="usage" data-level={share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine'}>
      <p>
        <b>{label}</b>
        <span>
          {count(used)} of {count(limit)}
        </span>
      </p>
      <meter
        aria-label={`${label}: ${count(used)} of ${count(limit)} used`}
        min={0}
        max={Math.max(1, limit)}
        value={Math.min(used, Math.max(1, limit))}
      />
      <p className="note">{note ?? ' '}</p>
    </div>
  );
}
