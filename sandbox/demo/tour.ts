import { setTimeout as pause } from 'node:timers/promises';
import { DEMO_USERS } from '../service/seed/demo-facts.ts';
import type { SimulatedService } from '../service/server.ts';
import type { LocalSlack } from '../slack/local-slack.ts';
import type { SeenMessage } from '../slack/state/types.ts';
import { deploy } from './outages.ts';

const TEAM = 'T0ACME';
const ADA = 'U0ADA';
/** The person whom the tour shows around. */
export const TOUR = { team: TEAM, user: ADA } as const;
const DEPLOYS = 'C0DEPLOYS';
const BILLING = 'C0BILLING';
/** Long enough to read what has just appeared, in milliseconds. */
const READ_MS = 3_500;

/** What a step is told with, and what it may do. */
interface Guide {
  slack: LocalSlack;
  service: SimulatedService;
  ada: ReturnType<LocalSlack['as']>;
  /** Types a command for all to see, in #deploys unless another channel is named. */
  type(line: string, channel?: string): Promise<unknown>;
  /** Leaves time to look at what has just appeared. */
  look(times?: number): Promise<unknown>;
  /** Resolves once this form is open. */
  opened(callbackId: string): Promise<unknown>;
  /** Resolves with the step's message that all in #deploys see, or Ada alone, once it says this. */
  told(words: string): Promise<SeenMessage>;
}

type Step = [words: string, act: (guide: Guide) => Promise<unknown>, where?: string];

const STEPS: readonly Step[] = [
  ['What do I do first?', ({ type }) => type('')],
  ['An account of our deployment service is connected.', connect],
  ['This channel is about the storefront.', bind],
  ['Can its repository and servers be reached? The thread tells it live.', test],
  ['A guard tests it every hour from now on, and speaks up only where something breaks.', guard],
  ['What happened this week, and how did it go?', ({ type }) => type('activity 7d stats')],
  ['A digest every Monday morning; this is what it will look like.', digest],
  ['A failure is one message. It says why, asks for somebody, and tells when it is over.', outage],
  ['Setting up an integration asks for exactly what its type needs.', integration],
  ['Which invoices are there?', invoices, BILLING],
  ['And is everything well?', ({ type }) => type('doctor')],
];

/**
 * Walks through the main features as Ada would, at a reader's pace, for those who have the page open as her. Ends
 * by itself; a step that does not come to its end within its time is an error.
 */
export async function giveTour(
  { slack, service }: Pick<Guide, 'slack' | 'service'>,
  say: (line: string) => void,
  readMs = READ_MS,
): Promise<void> {
  const ada = slack.as(TEAM, ADA);
  let stepTs = '';
  const guide: Guide = {
    slack,
    service,
    ada,
    look: (times = 1) => pause(readMs * times),
    async type(line, channel = DEPLOYS) {
      const typed = `/deckhand ${line}`.trim();
      slack.showTyping(TEAM, ADA, channel, typed);
      await pause(readMs / 2);
      slack.showTyping(TEAM, ADA, channel, '');
      return ada.command(channel, typed);
    },
    opened: (callbackId) =>
      slack.until(() => ada.openView()?.content.callback_id === callbackId, {
        what: `the form ${callbackId}`,
      }),
    told: (words) =>
      slack.until(
        () =>
          [slack.messages(TEAM, DEPLOYS), slack.ephemerals(TEAM, ADA)]
            .flat()
            .find(({ ts, text }) => ts > stepTs && text.includes(words)),
        { timeoutMs: 60_000, what: words },
      ),
  };
  for (const [words, act, where = DEPLOYS] of STEPS) {
    say(words);
    slack.lead(TEAM, ADA, { channel: where });
    ({ ts: stepTs } = await ada.postMessage(where, words));
    await guide.look(0.5);
    await act(guide);
    await guide.look();
  }
  slack.lead(TEAM, ADA, 'home');
  say('That was the tour; App Home sums it up. Everything on the page is yours to try.');
}

async function connect({ ada, look, opened, told, type }: Guide): Promise<void> {
  await type('connect');
  await opened('connect');
  await look(0.5);
  const { account, email, apiKey } = DEMO_USERS.admin;
  ada.fill('connect', { account, email, api_key: apiKey });
  await look();
  await ada.submit('connect');
  await told('Connected');
}

async function bind({ told, type }: Guide): Promise<void> {
  await type('use storefront');
  await told('bound this channel');
}

async function test({ slack, look, told, type }: Guide): Promise<void> {
  await type('test');
  const { ts: thread } = await told('Testing access to Storefront');
  slack.lead(TEAM, ADA, { channel: DEPLOYS, thread });
  await told('1 of 7 servers is unreachable');
  await look();
}

/** Due in the next minute; it finds the broken server some minutes later, for whoever leaves the demo open. */
async function guard({ look, told, type }: Guide): Promise<void> {
  const minute = new Date(Date.now() + 60_000).getUTCMinutes();
  await type(`guard add storefront cron:"${minute} * * * *" UTC`);
  await told('is checked');
  await look();
  await type('guard list');
  await look();
}

async function digest({ look, told, type }: Guide): Promise<void> {
  await type('digest add weekly:mon 09:00 Europe/Lisbon last_7_days');
  await told('Set up: the digest');
  await look();
  await type('digest preview');
  await look();
}

/** The failure is explained by a test, mentions Ada since nobody is on it, and ends with its next success. */
async function outage({ slack, service, ada, look, told, type }: Guide): Promise<void> {
  await type(`watch storefront failures --mention <@${ADA}> --after 0.2m`);
  await told('now hears');
  deploy(service, 'storefront', 'host');
  const { ts } = await told('Storefront: the deployment');
  slack.lead(TEAM, ADA, { channel: DEPLOYS, thread: ts });
  await told('cannot be reached');
  const thread = () => slack.thread(TEAM, DEPLOYS, ts);
  await slack.until(() => thread().some(({ text }) => text.includes('Nobody is on it')), {
    timeoutMs: 60_000,
    what: 'the mention',
  });
  await look();
  await ada.click({ channel: DEPLOYS, ts }, { actionId: 'episode:claim' });
  await look();
  deploy(service, 'storefront', 'ok');
  await told('Storefront recovered');
  await look();
  await type('activity stats storefront');
}

async function integration({ slack, ada, look, opened, type }: Guide): Promise<void> {
  await type('integration add storefront');
  await opened('integration.add');
  for (const selected of ['http_req', 'codehost', 'chat_d']) {
    const { id = '', hash = '' } = ada.openView() ?? {};
    await look(0.5);
    await ada.click({ viewId: id }, { actionId: 'hook_type', selected });
    await slack.until(() => ada.openView()?.hash !== hash, { what: `what ${selected} asks for` });
  }
  await look();
  await ada.close();
}

async function invoices({ slack, ada, look, told, type }: Guide): Promise<void> {
  await type('invoices', BILLING);
  const { ts } = await told('invoices of');
  await look();
  await ada.click({ channel: BILLING, ts }, { actionId: 'invoices:pdf#1004' });
  const file = await slack.until(
    () => slack.files(TEAM).find(({ mimetype }) => mimetype === 'application/pdf'),
    { what: 'the PDF' },
  );
  const [shared] = file.shares;
  if (shared !== undefined) slack.lead(TEAM, ADA, { channel: shared.channel });
}
