import { type Receiver, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from '../log.ts';
import { silentLogger } from './quiet.ts';

/** Slack over a connection that we open: for whoever has no public address. */
export function createSocketModeReceiver(options: {
  appToken: string;
  apiUrl: string;
  log: Logger;
}): Receiver {
  return new SocketModeReceiver({
    appToken: options.appToken,
    logger: silentLogger(options.log, 'slack_socket'),
    installerOptions: { clientOptions: { slackApiUrl: options.apiUrl } },
  });
}
