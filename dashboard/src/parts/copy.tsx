import {useEffect, useRef, useState} from 'react';

const paths = {
  ready: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  copied: 'm3 8.5 3.2 3.2L13 5',
  failed: 'm4 4 8 8M12 4l-8 8',
};

/** A text and the button that copies it. `what` names it for who does not see what stands beside the button. */
export function Copy({text, what}: {text: string; what: string}) {
  const [state, setState] = useState<keyof typeof paths>('ready');
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    if (state !== 'copied') return undefined;
    const timer = setTimeout(() => setState('ready'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  // A browser lets no frame write into the clipboard that its page has not allowed to.
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setState('failed');
    }
  };
  return (
    <>
      <code ref={shown}>{text}</code>
      <button type="button" className="copy" aria-label={`Copy ${what}`} data-state={state} onClick={() => void copy()}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={paths[state]} />
        </svg>
      </button>
      <span className={state === 'failed' ? 'not-copied' : 'hidden'} role="status">
        {state === 'copied' && 'Copied'}
        {state === 'failed' && 'Not copied. It is selected now: copy it by hand.'}
      </span>
    </>
  );
}
