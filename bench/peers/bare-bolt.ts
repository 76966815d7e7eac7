import process from 'node:process';
import bolt from '@slack/bolt';
import { sayListening } from '../support/processes.ts';

// Bolt as its guide starts it, with its own HTTP receiver: verifies, parses, acknowledges, and does nothing else.
const { App, HTTPReceiver, LogLevel } = bolt;
const receiver = new HTTPReceiver({
  signingSecret: process.env.SLACK_SIGNING_SECRET ?? '',
  logLevel: LogLevel.ERROR,
});
const app = new App({ receiver, authorize: async () => ({}), logLevel: LogLevel.ERROR });
app.command(/.*/, async ({ ack }) => ack());
app.view({ callback_id: /.*/, type: 'view_closed' }, async ({ ack }) => ack());
const server = await app.start(0);
const address = server.address();
sayListening(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
