import process from 'node:process';
import bolt from '@slack/bolt';
import { sayListening } from '../support/processes.ts';

// What a person writes by hand for the same command: acknowledge, ask the service, answer. No retries, no limits, no
// roles, no store: the key stands in the environment.
const { App, HTTPReceiver, LogLevel } = bolt;
const receiver = new HTTPReceiver({
  signingSecret: process.env.SLACK_SIGNING_SECRET ?? '',
  logLevel: LogLevel.ERROR,
});
const app = new App({ receiver, authorize: async () => ({}), logLevel: LogLevel.ERROR });

interface Profile {
  first_name: string;
  email_address: string;
  account: { name: string };
}

app.command(/.*/, async ({ ack, command }) => {
  await ack();
  const answer = await fetch(`${process.env.SERVICE_URL}/profile`, {
    headers: { authorization: `Basic ${btoa('ann@example.com:key')}`, accept: 'application/json' },
  });
  const profile = (await answer.json()) as Profile;
  const text = `${profile.first_name} <${profile.email_address}> in ${profile.account.name}`;
  await fetch(command.response_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] }),
  });
});
const server = await app.start(0);
const address = server.address();
sayListening(typeof address === 'object' && address !== null ? address.port : 0);
process.on('SIGTERM', () => process.exit(0));
