/** A view's heading, which gets the focus when one comes to it, and what stands there until it is known. */
import {useEffect, useRef} from 'react';
import type {ReactNode} from 'react';
import {brand} from '../brand.ts';
import {useLanguage, useTexts} from '../language.ts';

let first = true;

export function Page({
  title,
  over,
  lead,
  children,
}: {
  title: string;
  over?: ReactNode;
  lead?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const {code} = useLanguage();
  const shownIn = useRef(code);
  useEffect(() => {
    document.title = brand.name === '' ? title : `${title} · ${brand.name}`;
    // A browser begins at the first heading. After a change of the language, the focus stays on its switch.
    if (!first && shownIn.current === code) heading.current?.focus();
    first = false;
    shownIn.current = code;
  }, [title, code]);
  return (
    <>
      {over !== undefined && <p className="over">{over}</p>}
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {lead !== undefined && <div className="lead">{lead}</div>}
      {children}
    </>
  );
}

/** As much room as what comes will take, about. */
export function Skeleton({rows = 2}: {rows?: number}) {
  return (
    <div className="skeleton" role="status">
      <span className="hidden">{useTexts().loading}</span>
      {Array.from({length: rows}, (_, i) => (
        <div key={i} className="card" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      ))}
    </div>
  );
}
