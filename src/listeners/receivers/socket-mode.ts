import { type App, type Receiver, type ReceiverEvent, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from '../../observability/log.ts';
import { libraryLogger } from '../../slack/web.ts';

export interface SocketModeOptions {
  appToken: string;
  apiUrl: string;
  log: Logger;
  /** Milliseconds from the payload's arrival to its ack. */
  onAck: (ms: number) => void;
}

/**
 * Slack over a connection that we open, for where there is no public address. `stop` takes nothing more, and closes the
 * connection once what came before is acknowledged, since that is the way an ack takes; Slack sends the rest again or
 * to another replica.
 */
export function createSocketModeReceiver({ appToken, apiUrl, log, onAck }: SocketModeOptions): Receiver {
  const receiver = new SocketModeReceiver({
    appToken,
    logger: libraryLogger(log, 'slack_socket'),
    installerOptions: { clientOptions: { slackApiUrl: apiUrl } },
  });
  const unacknowledged = new Set<Promise<void>>();
  let isStopping = false;

  async function take(app: App, event: ReceiverEvent): Promise<void> {
    if (isStopping) return;
    const arrived = performance.now();
    const acknowledged = Promise.withResolvers<void>();
    unacknowledged.add(acknowledged.promise);
    const ack: ReceiverEvent['ack'] = async (answer) => {
      await event.ack(answer);
      onAck(performance.now() - arrived);
      acknowledged.resolve();
    };
    try {
      await app.processEvent({ ...event, ack });
    } finally {
      acknowledged.resolve();
      unacknowledged.delete(acknowledged.promise);
    }
  }

  return {
    init: (app) =>
      receiver.init(
        Object.create(app, { processEvent: { value: (event: ReceiverEvent) => take(app, event) } }) as App,
      ),
    start: () => receiver.start(),
    async stop() {
      isStopping = true;
      await Promise.all(unacknowledged);
      await receiver.stop();
    },
  };
}
