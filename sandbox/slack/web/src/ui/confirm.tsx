import type { Confirm } from '@slack/types';
import { createContext, type ReactNode, useCallback, useId, useState } from 'react';
import { PlainText, Text } from '../mrkdwn/text.tsx';
import { Dialog } from './dialog.tsx';

/** Asks the person; resolves to whether they agreed. */
export type AskConfirm = (confirm: Confirm) => Promise<boolean>;

export const ConfirmContext = createContext<AskConfirm>(() => Promise.resolve(false));

interface Asked {
  confirm: Confirm;
  settle: (agreed: boolean) => void;
}

export function ConfirmProvider({ children }: { children: ReactNode }): ReactNode {
  const [asked, setAsked] = useState<Asked>();
  const ask = useCallback<AskConfirm>((confirm) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settle = (agreed: boolean): void => {
      setAsked(undefined);
      resolve(agreed);
    };
    setAsked({ confirm, settle });
    return promise;
  }, []);
  return (
    <ConfirmContext value={ask}>
      {children}
      {asked && <ConfirmDialog {...asked} />}
    </ConfirmContext>
  );
}

function ConfirmDialog({ confirm, settle }: Asked): ReactNode {
  const id = useId();
  const style = confirm.style === 'danger' ? 'button-danger' : 'button-primary';
  return (
    <Dialog labelledBy={id} role="alertdialog" className="confirm" onClose={() => settle(false)}>
      <h2 id={id} className="dialog-title">
        <PlainText text={confirm.title ?? { text: 'Are you sure?' }} />
      </h2>
      <div className="dialog-body">
        <Text text={confirm.text} />
      </div>
      <footer className="dialog-footer">
        <button type="button" className="button" onClick={() => settle(false)}>
          <PlainText text={confirm.deny ?? { text: 'Cancel' }} />
        </button>
        <button
          type="button"
          className={`button ${style}`}
          data-default-action=""
          onClick={() => settle(true)}
        >
          <PlainText text={confirm.confirm ?? { text: 'Yes' }} />
        </button>
      </footer>
    </Dialog>
  );
}
