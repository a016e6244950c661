import {useEffect, useRef, useState} from 'react';
import {useTexts} from '../language.ts';

const paths = {
  ready: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  copied: 'm3 8.5 3.2 3.2L13 5',
  failed: 'm4 4 8 8M12 4l-8 8',
};

type CopyState = keyof typeof paths;

/** Copies a text. The state `copied` lasts 2 s. */
function useCopy(text: string): {state: CopyState; copy: () => Promise<void>} {
  const [state, setState] = useState<CopyState>('ready');
  useEffect(() => {
    if (state !== 'copied') return undefined;
    const timer = setTimeout(() => setState('ready'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  // A browser denies a frame the clipboard unless the surrounding page allows it.
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState('copied');
    } catch {
      setState('failed');
    }
  };
  return {state, copy};
}

/** A text and the button that copies it. `what` names the text for people who do not see what is beside the button. */
export function Copy({text, what}: {text: string; what: string}) {
  const {copy: texts} = useTexts();
  const {state, copy} = useCopy(text);
  const shown = useRef<HTMLElement>(null);
  useEffect(() => {
    if (state === 'failed' && shown.current) getSelection()?.selectAllChildren(shown.current);
  }, [state]);
  return (
    <>
      <code ref={shown}>{text}</code>
      <button
        type="button"
        className="copy"
        aria-label={texts.label(what)}
        data-state={state}
        onClick={() => void copy()}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={paths[state]} />
        </svg>
      </button>
      <span className={state === 'failed' ? 'not-copied' : 'hidden'} role="status">
        {state === 'copied' && texts.copied}
        {state === 'failed' && texts.failed}
      </span>
    </>
  );
}

/** The instructions for the person who manages the DNS of a domain: to send, and to copy. The first line is the subject of the mail. */
export function Instructions({domain, text}: {domain: string; text: string}) {
  const {instructions: texts} = useTexts();
  const {state, copy} = useCopy(text);
  const subject = text.slice(0, text.indexOf('\n'));
  // RFC 6068: lines of a body end with CRLF.
  const body = encodeURIComponent(text.replaceAll('\n', '\r\n'));
  return (
    <div className="actions">
      <a className="button" href={`mailto:?subject=${encodeURIComponent(subject)}&body=${body}`}>
        {texts.send}
        <span className="hidden"> {domain}</span>
      </a>
      <button type="button" className="quiet" onClick={() => void copy()}>
        {texts.copy}
        <span className="hidden"> {domain}</span>
      </button>
      <span className={state === 'ready' ? 'hidden' : 'outcome'} role="status" data-state={state}>
        {state === 'copied' && texts.copied}
        {state === 'failed' && texts.failed}
      </span>
    </div>
  );
}
