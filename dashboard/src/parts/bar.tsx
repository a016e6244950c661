import {useTexts} from '../language.ts';
import {count} from '../words.ts';

/** How much of something is used. */
export function Bar({label, used, limit, note}: {label: string; used: number; limit: number; note?: string}) {
  const {quota: texts} = useTexts();
  const share = limit === 0 ? 1 : Math.min(1, used / limit);
  return (
    <div className="usage" data-level={share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine'}>
      <p>
        <b>{label}</b>
        <span>{texts.of(count(used), count(limit))}</span>
      </p>
      <meter
        aria-label={texts.used(label, count(used), count(limit))}
        min={0}
        max={Math.max(1, limit)}
        value={Math.min(used, Math.max(1, limit))}
      />
      <p className="note">{note ?? ' '}</p>
    </div>
  );
}
