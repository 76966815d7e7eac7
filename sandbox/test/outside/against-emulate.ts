import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { sendJson, sendPayload, sendSigned } from '../../../test/support/signed.ts';
import { ACCOUNT, API_KEY, EMAIL, openTestWorld, type TestWorld } from '../../../test/support/test-world.ts';
import { type Call, type EmulatedSlack, startEmulatedSlack } from './emulated-slack.ts';
import { createSteps, type Line, type Outcome, say } from './report.ts';

const MAX_MS = 15_000;
/** What the emulator does not have; Deckhand goes on without. */
const NOT_THEIRS = new Set(['unknown_method']);

const ViewSchema = z.looseObject({ id: z.string(), hash: z.string().optional(), callback_id: z.string() });

/** Deckhand between the emulator's Slack and our simulated service. Words and forms are sent by this script. */
export async function talkToEmulate(): Promise<Line[]> {
  const slack = await startEmulatedSlack();
  const world = await openTestWorld({
    env: {
      SLACK_API_URL: slack.apiUrl,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_RESPONSE_HOSTS: slack.responseHost,
    },
  });
  try {
    say('\nemulate');
    return await converse(slack, world);
  } finally {
    await world.stop();
    await slack.stop();
  }
}

async function converse(slack: EmulatedSlack, world: TestWorld): Promise<Line[]> {
  const { lines, step } = createSteps(
    () => slack.calls.length,
    (text, since) => judge(text, slack.calls.slice(since)),
  );
  const type = (text: string) => command(slack, world, text);
  await step('connect: modal, submission, answer', () => connect(slack, world));
  for (const words of ['projects', 'doctor', 'accounts', 'activity stats', 'server show web-1 storefront'])
    await step(words, () => type(words));
  await step('test storefront: root and thread', async () => {
    await type('test storefront');
    const root = async () =>
      (await slack.texts()).find((text) => text.includes('both servers are reachable'));
    const ended = await until(root, 'the end of the run');
    await until(async () => (await slack.thread()).find((text) => text.includes('took')), 'the thread');
    return ended;
  });
  await step('digest add and preview', async () => {
    await type('digest add daily 09:00 UTC');
    await until(async () => (await slack.texts()).find((text) => text.includes('digest')), 'the digest');
    return type('digest preview');
  });
  await step('invoices 1001: upload of the PDF', async () => {
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
    world.service.world.addInvoice({ account: ACCOUNT, number: 1001 });
    return type('invoices 1001');
  });
  await step('App Home', async () => {
    await openHome(slack, world);
    const published = () => slack.calls.find(({ method, ok }) => method === 'views.publish' && ok);
    return (await until(async () => published(), 'App Home')).method;
  });
  return lines;
}

function judge(text: string | Error, calls: readonly Call[]): Outcome {
  const bad = calls.filter(({ ok }) => !ok);
  const refused = bad.filter(({ error }) => !NOT_THEIRS.has(error ?? ''));
  const words = bad.map(({ method, error }) => `${method}: ${error}`).join(', ');
  if (text instanceof Error) return ['FAILED', `${text.message} ${words}`];
  if (refused.length > 0 || text.includes('unexpected')) return ['FAILED', words || text];
  return ['ok', `${text} ${words}`];
}

/** Types a command, and waits for its private answer. */
async function command(slack: EmulatedSlack, world: TestWorld, text: string): Promise<string> {
  const before = slack.answers.length;
  const trigger = await slack.trigger();
  const fields = {
    command: '/deckhand',
    text,
    team_id: slack.team,
    channel_id: slack.channel,
    channel_name: 'deploys',
    user_id: slack.user,
    user_name: 'anna',
    api_app_id: 'A000000001',
    trigger_id: trigger,
    response_url: `http://${slack.responseHost}/answer/${trigger}`,
  };
  await sendSigned(world, new URLSearchParams(fields).toString());
  if (/^(?:connect|test|digest add)/.test(text)) return '';
  return until(async () => slack.answers.slice(before).at(-1), `the answer of ${text}`);
}

async function connect(slack: EmulatedSlack, world: TestWorld): Promise<string> {
  await command(slack, world, `connect ${ACCOUNT}`);
  const opened = await until(
    async () => slack.calls.find(({ method }) => method === 'views.open'),
    'the form',
  );
  const view = ViewSchema.parse(opened.answer.view);
  const value = (id: string, typed: string) => ({
    [id]: { [id]: { type: 'plain_text_input', value: typed } },
  });
  const values = { ...value('account', ACCOUNT), ...value('email', EMAIL), ...value('api_key', API_KEY) };
  const before = slack.calls.length;
  const { status, text } = await sendPayload(world, {
    type: 'view_submission',
    team: { id: slack.team, domain: 'acme' },
    user: { id: slack.user, name: 'anna', team_id: slack.team },
    api_app_id: 'A000000001',
    trigger_id: await slack.trigger(),
    view: { ...view, team_id: slack.team, state: { values } },
    response_urls: [],
  });
  if (status !== 200 || text.includes('errors')) throw new Error(`${status} ${text}`);
  const told = () => slack.calls.slice(before).find(({ method }) => method === 'chat.postEphemeral');
  const { ok, error } = await until(async () => told(), 'the news of the account');
  return ok ? 'connected' : `unexpected: ${error}`;
}

async function openHome(slack: EmulatedSlack, world: TestWorld): Promise<void> {
  await sendJson(world, {
    type: 'event_callback',
    team_id: slack.team,
    api_app_id: 'A000000001',
    event_id: 'Ev0HOME',
    event_time: Math.floor(Date.now() / 1000),
    authorizations: [{ team_id: slack.team, user_id: slack.user, is_bot: true, enterprise_id: null }],
    event: { type: 'app_home_opened', user: slack.user, channel: 'D0HOME', tab: 'home', event_ts: '1.1' },
  });
}

/** A script at somebody's screen may look again and again. */
async function until<T>(find: () => Promise<T | undefined>, what: string): Promise<T> {
  const end = Date.now() + MAX_MS;
  while (Date.now() < end) {
    const found = await find();
    if (found !== undefined) return found;
    await wait(100);
  }
  throw new Error(`waited in vain for ${what}`);
}
