import { setTimeout as pause } from 'node:timers/promises';
import { DEMO_USERS } from '../service/seed/demo-facts.ts';
import type { LocalSlack } from '../slack/server.ts';

const TEAM = 'T0ACME';
const DEPLOYS = 'C0DEPLOYS';
/** Long enough to read what has just appeared. */
const READ_MS = 3_500;

/**
 * Walks through the main features as Ada would, at a reader's pace: whoever has the page open as Ada watches. Ends
 * by itself; a step that does not come to its end within its time is an error.
 */
export async function giveTour(slack: LocalSlack, say: (line: string) => void): Promise<void> {
  const ada = slack.as(TEAM, 'U0ADA');

  async function step(words: string, act: () => Promise<unknown>): Promise<void> {
    say(words);
    await ada.postMessage(DEPLOYS, words);
    await pause(READ_MS / 2);
    await act();
    await pause(READ_MS);
  }
  const type = (line: string) => () => ada.command(DEPLOYS, `/deckhand ${line}`);
  const opened = (callbackId: string) =>
    slack.until(() => ada.openView()?.content.callback_id === callbackId, { what: `the form ${callbackId}` });
  const latest = () => slack.messages(TEAM, DEPLOYS).findLast((message) => message.bot_id !== undefined);
  const latestSays = (words: string) =>
    slack.until(() => latest()?.text.includes(words), { timeoutMs: 60_000, what: words });

  await step('What can Deckhand do?', type('help'));
  await step('First, an account of our deployment service is connected.', async () => {
    await type('connect')();
    await opened('connect');
    const { account, email, apiKey } = DEMO_USERS.admin;
    ada.fill('connect', { account, email, api_key: apiKey });
    await pause(READ_MS);
    await ada.submit('connect');
  });
  await step('This channel is about the storefront.', type('use storefront'));
  await step('Can its repository and servers be reached? The thread tells it live.', async () => {
    await type('test')();
    await latestSays('6 of 7 reachable');
  });
  await step('What happened this week, and how did it go?', type('activity 7d stats'));
  await step('A digest every Monday morning; this is what it will look like.', async () => {
    await type('digest add weekly:mon 09:00 Europe/Lisbon last_7_days')();
    await pause(READ_MS);
    await type('digest preview')();
  });
  await step(
    'Only what starts failing or recovers is told here as it happens.',
    type('watch storefront transitions'),
  );
  await step('Setting up an integration asks for exactly what its type needs.', async () => {
    await type('integration add storefront')();
    await opened('integration.add');
    await pause(READ_MS);
    await ada.close();
  });
  await step('Which invoices are there?', type('invoices'));
  await step('And is everything well?', type('doctor'));
  say('That was the tour. Everything on the page is yours to try.');
}
