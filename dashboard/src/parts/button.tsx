import type {ComponentProps} from 'react';

/** A button that does nothing while it is busy, and keeps the focus, which one that is disabled would lose. */
export function Button({busy, onClick, ...props}: ComponentProps<'button'> & {busy: boolean}) {
  return (
    <button
      type="button"
      {...props}
      aria-disabled={busy}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
