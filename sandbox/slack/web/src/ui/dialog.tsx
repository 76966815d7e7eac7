import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), textarea:not(:disabled), select:not(:disabled), [tabindex="0"]';
/** Where the focus goes at first, best first. */
const starts = [
  '[data-focus-on-load]',
  '.dialog-body :is(input, textarea)',
  '[data-default-action]',
  'button',
];

interface DialogProps {
  labelledBy: string;
  className?: string;
  role?: 'alertdialog';
  onClose: () => void;
  children: ReactNode;
}

/** A native modal dialog: what is behind it is inert, Escape closes it, focus goes in, stays and comes back. */
export function Dialog({ labelledBy, className, role, onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    const start = starts.map((one) => dialog?.querySelector<HTMLElement>(one)).find((found) => found != null);
    start?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      role={role}
      className={className ? `dialog ${className}` : 'dialog'}
      aria-labelledby={labelledBy}
      onKeyDown={keepFocusInside}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {children}
    </dialog>
  );
}

/** Without this, Tab would leave for the browser's own controls. */
function keepFocusInside(event: KeyboardEvent<HTMLDialogElement>): void {
  if (event.key !== 'Tab') return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>(focusable)].filter(isVisible);
  const from = event.shiftKey ? stops[0] : stops.at(-1);
  const to = event.shiftKey ? stops.at(-1) : stops[0];
  if (document.activeElement !== from) return;
  event.preventDefault();
  to?.focus();
}

function isVisible(element: HTMLElement): boolean {
  return element.tabIndex >= 0 && element.getClientRects().length > 0;
}
