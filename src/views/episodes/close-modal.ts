import type { ModalView } from '../../core/message.ts';
import { section } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';

export const CLOSE = 'episode.close';

/** The question before a failure is closed. @param title name of the failure; mrkdwn @param metadata the clicked option */
export function closeModal(title: string, metadata: unknown, isOutage: boolean): ModalView {
  const text = isOutage
    ? 'The message of these failures will say that you closed them, and will not change when the projects recover. Later failures start new messages.'
    : 'Its message will say that you closed it, and will not change when the project recovers. The next failure starts a new message.';
  return modal(
    CLOSE,
    isOutage ? 'Close these failures?' : 'Close this failure?',
    { submit: 'Close', metadata },
    [section(`*${title}*`), section(text)],
  );
}
