import { hash } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { createKeyedLock } from '../core/locks.ts';

/** The same UUID for the same parts, in the form of Slack's `client_msg_id`. */
export function postId(...parts: string[]): string {
  const hex = hash('sha256', JSON.stringify(parts));
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** What must be stored right before a post leaves, by the post's `client_msg_id`. */
export interface PostJournal {
  /** Until the returned function is called, `store` runs before each try at the post. */
  announce(clientMsgId: string, store: () => Promise<void>): () => void;
  /** Sends a body: at once, or where its post was announced, stored first and alone. */
  send<T>(body: unknown, start: () => Promise<T>): Promise<T>;
}

const POST_ID = /(?:^|&)client_msg_id=([0-9a-f-]{36})(?:&|$)/;
const BODY_SENT = channel('undici:request:bodySent');

/**
 * Only one announced post of the process is between its stored intent and its bytes on the wire, so that a killed
 * process leaves at most one intent that Slack never saw, however many channels it posts in.
 */
export function createPostJournal(): PostJournal {
  const announced = new Map<string, () => Promise<void>>();
  const alone = createKeyedLock();
  return {
    announce(clientMsgId, store) {
      announced.set(clientMsgId, store);
      return () => announced.delete(clientMsgId);
    },
    async send(body, start) {
      const id = typeof body === 'string' && announced.size > 0 ? POST_ID.exec(body)?.[1] : undefined;
      const store = id === undefined ? undefined : announced.get(id);
      if (store === undefined) return start();
      const { answer } = await alone('post', async () => {
        await store();
        const begun = start();
        await bodyLeft(begun);
        return { answer: begun };
      });
      return answer;
    },
  };
}

/** Resolves once a post's body has left, or its request has ended, whichever comes first. */
function bodyLeft(answer: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const onSent = (message: unknown): void => {
      if (isPost(message)) end();
    };
    const end = (): void => {
      BODY_SENT.unsubscribe(onSent);
      resolve();
    };
    BODY_SENT.subscribe(onSent);
    answer.then(end, end);
  });
}

function isPost(message: unknown): boolean {
  const { request } = message as { request?: { path?: unknown } };
  return String(request?.path).endsWith('/chat.postMessage');
}
