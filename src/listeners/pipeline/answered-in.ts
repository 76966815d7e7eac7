import type { ModalView } from '../../core/message.ts';

/** Remembers the thread that a mention is answered in, however often the form is drawn again. */
export function answeredIn(view: ModalView, thread: string | undefined): ModalView {
  if (thread === undefined) return view;
  const metadata: object = JSON.parse(view.private_metadata || '{}');
  return { ...view, private_metadata: JSON.stringify({ ...metadata, answer: thread }) };
}
