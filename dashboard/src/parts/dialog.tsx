/** Dialogs: a question before something that cannot be taken back, or something that is shown once. Loaded when the first one opens. */
import {Dialog, DialogDismiss, DialogHeading} from '@ariakit/react';
import type {FormEvent, ReactNode} from 'react';
import {useTexts} from '../language.ts';
import {Button} from './button.tsx';
import {Problem} from './problem.tsx';

interface ConfirmProps {
  title: string;
  children: ReactNode;
  /** Label of the button that performs the action. */
  does: string;
  dangerous?: boolean;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks. The focus is on the way back first where it is dangerous. */
export default function Confirm({
  title,
  children,
  does,
  dangerous = false,
  busy,
  error,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const texts = useTexts();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onConfirm();
  };
  return (
    <Dialog open onClose={onClose} className="dialog" backdrop={<div className="backdrop" />} unmountOnHide>
      <DialogHeading>{title}</DialogHeading>
      <form onSubmit={submit}>
        {children}
        {error !== null && error !== undefined && <Problem error={error} />}
        <div className="actions end">
          <DialogDismiss type="button" autoFocus={dangerous}>
            {texts.cancel}
          </DialogDismiss>
          <Button type="submit" className={dangerous ? 'danger' : 'primary'} busy={busy}>
            {busy ? texts.oneMoment : does}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Shows until it is put away. */
export function Show({title, children, onClose}: {title: string; children: ReactNode; onClose: () => void}) {
  return (
    <Dialog
      open
      onClose={onClose}
      hideOnInteractOutside={false}
      className="dialog"
      backdrop={<div className="backdrop" />}
      unmountOnHide
    >
      <DialogHeading>{title}</DialogHeading>
      {children}
      <div className="actions end">
        <DialogDismiss className="primary">{useTexts().done}</DialogDismiss>
      </div>
    </Dialog>
  );
}
