import { type FormEvent, type ReactNode, useCallback, useId, useMemo, useState } from 'react';
import type { Client } from '../api/client.ts';
import type { Container, Values, View } from '../api/types.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { collectValues } from '../elements/collect-values.ts';
import { PlainText } from '../mrkdwn/text.tsx';
import { SurfaceContext } from '../state/surface.ts';
import { useSurfaceState } from '../state/use-surface-state.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon, IconButton } from '../ui/icon.tsx';
import { Samples } from './samples.tsx';

interface ModalProps {
  view: View;
  client: Client;
  app: string;
  isTop: boolean;
  hasBelow: boolean;
}

const TROUBLE = 'We had some trouble connecting. Try again?';

export function Modal({ view, client, app, isTop, hasBelow }: ModalProps): ReactNode {
  const id = useId();
  const [trouble, setTrouble] = useState<string>();
  const [submitting, setSubmitting] = useState(false);
  const container = useMemo<Container>(() => ({ type: 'view', view_id: view.id }), [view.id]);
  const collect = useCallback((changed: Values) => collectValues(view.blocks, changed), [view.blocks]);
  const form = useSurfaceState({
    client,
    container,
    held: view.state?.values,
    collect,
    onError: (error) => setTrouble(sentence(error)),
  });

  const close = (all: boolean): void => void client.close(view.id, all);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (submitting) return;
    setTrouble(undefined);
    setSubmitting(true);
    const answer = await client.submit(view.id, form.values());
    setSubmitting(false);
    form.setErrors(answer.errors ?? {});
    if (answer.errors) focusFirstFault(id);
    else if (!answer.ok) setTrouble(sentence(answer.error));
  };
  if (!isTop) return null;
  return (
    <Dialog labelledBy={`${id}-title`} className="modal" onClose={() => close(false)}>
      <form id={id} noValidate onSubmit={(event) => void submit(event)} className="modal-form">
        <ModalHead id={`${id}-title`} view={view} app={app} hasBelow={hasBelow} onClose={close} />
        {trouble && (
          <p className="modal-trouble" role="alert">
            <Icon name="circle-alert" />
            {trouble}
          </p>
        )}
        <div className="dialog-body">
          <Samples of={view.callback_id} />
          <SurfaceContext value={form.surface}>
            <Blocks blocks={view.blocks} />
          </SurfaceContext>
        </div>
        <ModalFoot view={view} submitting={submitting} onClose={() => close(false)} />
      </form>
    </Dialog>
  );
}

/** Slack's own words where the server has them; codes say nothing to a person. */
function sentence(error: string | undefined): string {
  return error?.includes(' ') ? error : TROUBLE;
}

/** After the faults are drawn. */
function focusFirstFault(formId: string): void {
  requestAnimationFrame(() => {
    const form = document.getElementById(formId);
    form?.querySelector<HTMLElement>('.invalid :is(input, textarea)')?.focus();
  });
}

interface HeadProps {
  id: string;
  view: View;
  app: string;
  hasBelow: boolean;
  onClose: (all: boolean) => void;
}

function ModalHead({ id, view, app, hasBelow, onClose }: HeadProps): ReactNode {
  return (
    <header className="modal-head">
      {hasBelow && <IconButton icon="chevron-left" label="Back" onClick={() => onClose(false)} />}
      <span className="avatar avatar-app" aria-hidden="true">
        <Icon name="bot" />
      </span>
      <h2 id={id} className="dialog-title">
        <PlainText text={view.title ?? { text: app }} />
      </h2>
      <IconButton icon="x" label="Close" onClick={() => onClose(true)} />
    </header>
  );
}

function ModalFoot({
  view,
  submitting,
  onClose,
}: {
  view: View;
  submitting: boolean;
  onClose: () => void;
}): ReactNode {
  return (
    <footer className="dialog-footer">
      <button type="button" className="button" onClick={onClose}>
        <PlainText text={view.close ?? { text: view.submit ? 'Cancel' : 'Close' }} />
      </button>
      {view.submit && (
        <button
          type="submit"
          className="button button-primary"
          aria-disabled={submitting}
          aria-busy={submitting}
          data-default-action=""
        >
          {submitting && <Icon name="loader-circle" className="spin" />}
          <PlainText text={view.submit} />
        </button>
      )}
    </footer>
  );
}
