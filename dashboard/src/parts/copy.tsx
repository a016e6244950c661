import {useEffect, useState} from 'react';

/** Copies a text. `what` names it for who does not see what stands beside the button. */
export function Copy({text, what}: {text: string; what: string}) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  return (
    <button type="button" className="copy" aria-label={`Copy ${what}`} data-state={state} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {state === 'copied' ? <path d="m3 8.5 3.2 3.2L13 5" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />}
      </svg>
      <span className="hidden" role="status">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'It could not be copied: select it' : ''}
      </span>
    </button>
  );
}
