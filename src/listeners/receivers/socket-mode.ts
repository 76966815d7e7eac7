import type { App, Receiver, ReceiverEvent } from '@slack/bolt';
import { AckNotSent } from '../../core/errors.ts';
import { RecentMap } from '../../core/ttl-cache.ts';
import { createSocketConnections, type Pending, type SocketOptions } from './socket-connections.ts';

export interface SocketModeOptions extends SocketOptions {
  /** Milliseconds from the payload's arrival to its ack. */
  onAck: (ms: number) => void;
}

/** A payload that came, by its envelope: Slack sends it again over another connection where it saw no ack. */
interface Envelope {
  send: ReceiverEvent['ack'];
  answer?: { value: Parameters<ReceiverEvent['ack']>[0] };
  acknowledged: PromiseWithResolvers<void>;
}

/** Slack sends an envelope again within seconds. */
const MOST_ENVELOPES = 500;

/**
 * Slack over connections that we open, for where there is no public address. `stop` takes nothing more, and closes each
 * connection once what came before is acknowledged, since that is the way an ack takes; Slack sends the rest again or
 * to another replica.
 */
export function createSocketModeReceiver(options: SocketModeOptions): Receiver {
  const { log, onAck } = options;
  const envelopes = new RecentMap<string, Envelope>(MOST_ENVELOPES);
  let app: App | undefined;
  let isStopping = false;

  /** Each envelope is carried out once; sent again, it gets the first one's answer. */
  async function take(event: ReceiverEvent, pending: Pending): Promise<void> {
    const id = String(event.customProperties?.envelopeId);
    const known = envelopes.get(id);
    if (known !== undefined) {
      known.send = event.ack;
      pending.add(known.acknowledged.promise);
      return void (await answer(known));
    }
    if (isStopping || app === undefined) return;
    const envelope: Envelope = { send: event.ack, acknowledged: Promise.withResolvers() };
    envelopes.set(id, envelope);
    await carryOut(app, event, envelope, pending);
  }

  async function carryOut(
    app: App,
    event: ReceiverEvent,
    envelope: Envelope,
    pending: Pending,
  ): Promise<void> {
    const arrived = performance.now();
    const { acknowledged } = envelope;
    pending.add(acknowledged.promise);
    const ack: ReceiverEvent['ack'] = async (value) => {
      envelope.answer = { value };
      const isSent = await answer(envelope);
      onAck(performance.now() - arrived);
      acknowledged.resolve();
      // Only a form has its outcome in the ack.
      if (!isSent && event.body.type === 'view_submission') throw new AckNotSent();
    };
    try {
      await app.processEvent({ ...event, ack });
    } finally {
      acknowledged.resolve();
      pending.delete(acknowledged.promise);
    }
  }

  /** A connection that is gone takes no ack. What was asked is carried out all the same. */
  async function answer({ send, answer }: Envelope): Promise<boolean> {
    if (answer === undefined) return false;
    try {
      await send(answer.value);
      return true;
    } catch (error) {
      log.warn({ event: 'ack_not_sent', err: error }, 'an acknowledgement could not be sent');
      return false;
    }
  }

  const connections = createSocketConnections(options, (pending) =>
    Object.create(app ?? null, {
      processEvent: { value: (event: ReceiverEvent) => take(event, pending) },
    }),
  );
  return {
    init(given) {
      app = given;
    },
    start: () => connections.start(),
    async stop() {
      isStopping = true;
      await connections.stop();
    },
  };
}
