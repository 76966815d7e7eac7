import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM } from '../support/test-world.ts';
import { GUARD_RUNS } from './guard-acts.ts';
import { move } from './move-act.ts';
import { pdfs } from './pdfs-act.ts';
import {
  ann,
  diagnosis,
  digest,
  episode,
  escalation,
  made,
  notice,
  outage,
  push,
  times,
  watch,
} from './schedule-acts.ts';
import { setup } from './setup-act.ts';
import type { ActEnvironment, Site } from './site.ts';
import { uninstall } from './uninstall-act.ts';

/** Something that is asked of Deckhand, and what a person must find at the end. */
export interface Act {
  name: string;
  /** What the process is started with besides. */
  env?: ActEnvironment;
  byOauth?: boolean;
  /** It is asked again only when the time before has ended. */
  isAlone?: boolean;
  /** What is seen is an answer to a person, which stands twice only where that was counted. */
  isAnswer?: boolean;
  /** Once, before all points. */
  setUp?(site: Site): Promise<void>;
  /** Brings the person as far as the step that is asked. */
  prepare?(site: Site, n: number): Promise<void>;
  /** False where Slack showed the person that it failed: then it may be done or not. */
  ask(site: Site, n: number): Promise<boolean>;
  /** How often it is there to be seen, or that the person was told that it may not be done. */
  seen(site: Site, n: number): number | Promise<number>;
  /** A word that only the orders of this time have. */
  word?(n: number): string;
  /** How often it may have been done at the service; more than once only where that was counted. */
  done?(site: Site, n: number): number;
  /** Whether a part of it is done, and the rest is not. */
  isHalf?(site: Site, n: number): Promise<boolean>;
  /** Channels of this time, beside the usual ones. */
  channels?(n: number): string[];
}

const isOk = ({ outcome }: { outcome: string }): boolean => outcome === 'ok';
const told = ({ slack }: Site): string[] =>
  [...slack.ephemerals(TEAM, PEOPLE.admin), ...slack.dms(TEAM, PEOPLE.admin)].map(
    ({ text, blocks }) => `${text} ${JSON.stringify(blocks)}`,
  );
const shown = (site: Site): string =>
  JSON.stringify(
    ann(site)
      .openViews()
      .map(({ content }) => content),
  );
/** What a form says that was carried out by a process which did not acknowledge it. */
const DONE = 'Done. You can close this';
/** What a message says of one whose form is gone from the screen. */
const CARRIED_OUT = 'was carried out';
/** Of an order that a kill cut off. */
const UNKNOWN = 'may or may not be done';

async function shows(site: Site, words: string): Promise<void> {
  await site.slack.until(() => shown(site).includes(words), { what: words });
}

/** Leaves no form of an earlier point on the screen. */
async function closeForms(site: Site): Promise<void> {
  while (ann(site).openView() !== undefined) await ann(site).close();
}

/**
 * Answers that do not say which time they are for: those until the next time is prepared. What the form says, which
 * changes and never stands twice, is one answer with the message about the same.
 */
function answersBy(count: (messages: readonly string[]) => number) {
  const ended = new Map<number, number>();
  let latest = { n: -1, before: 0 };
  const isInForm = (site: Site): boolean => [DONE, UNKNOWN].some((words) => shown(site).includes(words));
  const since = (site: Site): number => Math.max(count(told(site)) - latest.before, isInForm(site) ? 1 : 0);
  return {
    async begin(site: Site, n: number): Promise<void> {
      if (latest.n >= 0 && n > 0) ended.set(latest.n, since(site));
      await closeForms(site);
      latest = { n, before: count(told(site)) };
    },
    seen: (site: Site, n: number): number => (n === latest.n ? since(site) : (ended.get(n) ?? 0)),
  };
}

const test: Act = {
  name: 'test',
  ask: async ({ slack }, n) =>
    isOk(await slack.as(TEAM, PEOPLE.member).command(CHANNEL, `/deckhand test shop${n}x`)),
  seen: ({ slack }, n) =>
    slack
      .messages(TEAM, CHANNEL)
      .filter(({ text }) => text.includes(`Shop${n}x`) && text.includes('the server is reachable')).length,
  word: (n) => `shop${n}x`,
  done: (site, n) => made(site, 'test_access', `shop${n}x`),
};

const serverAdd: Act = {
  name: 'server add',
  async prepare(site, n) {
    await closeForms(site);
    await ann(site).command(CHANNEL, '/deckhand server add storefront');
    await shows(site, '"block_id":"subdomain"');
    await ann(site).submit('server.add', { name: `srv${n}x`, subdomain: `srv${n}x` });
    await shows(site, 'Create this server?');
  },
  ask: async (site) => isOk(await ann(site).submit('server.add')),
  seen: (site, n) =>
    times(
      site.slack.messages(TEAM, CHANNEL).map(({ text }) => text),
      `srv${n}x`,
    ) + times(told(site), `srv${n}x`),
  done: (site, n) => made(site, '/servers', `srv${n}x`),
};

/** A form that the person opens, fills in and sends. */
function formAct(
  name: string,
  counts: (messages: readonly string[]) => number,
  form: { open(site: Site): Promise<unknown>; values(n: number): object },
): Act {
  const answers = answersBy(counts);
  return {
    name,
    isAlone: true,
    isAnswer: true,
    async prepare(site, n) {
      await answers.begin(site, n);
      await form.open(site);
    },
    ask: async (site, n) => isOk(await ann(site).submit(name.replace(' ', '.'), { ...form.values(n) })),
    seen: answers.seen,
  };
}

const countAny =
  (...words: string[]) =>
  (messages: readonly string[]): number =>
    words.reduce((sum, some) => sum + times(messages, some), 0);

const integrationAdd: Act = {
  ...formAct('integration add', countAny('is set up in', UNKNOWN, DONE, CARRIED_OUT), {
    async open(site) {
      await ann(site).command(CHANNEL, '/deckhand integration add storefront');
      await shows(site, '"integration.add"');
      const viewId = ann(site).openView()?.id ?? '';
      const choice = { actionId: 'hook_type', blockId: 'hook_type', selected: 'http_req' };
      await ann(site).click({ viewId }, choice);
      await shows(site, 'properties.url');
    },
    values: (n) => ({
      name: `int${n}x`,
      flags: ['send_on_failure'],
      'properties.url': `https://hooks.example.com/${n}`,
    }),
  }),
  done: (site, n) => made(site, '/integrations', `int${n}x`),
};

const connect = formAct('connect', countAny('Connected ', DONE, CARRIED_OUT), {
  async open(site) {
    await ann(site).command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
    await shows(site, '"block_id":"purpose"');
  },
  values: () => ({ account: ACCOUNT, email: EMAIL, api_key: API_KEY, purpose: 'shared' }),
});

const roles = formAct('roles', (messages) => messages.length, {
  async open(site) {
    await ann(site).command(CHANNEL, '/deckhand roles');
    await shows(site, '"block_id":"operator"');
  },
  values: (n) => ({ admin: [PEOPLE.admin], operator: n % 2 === 0 ? [PEOPLE.member] : [], billing: [] }),
});

const workflows = new Map<number, string>();
const workflow: Act = {
  name: 'workflow step',
  async ask({ slack }, n) {
    const { id } = slack.runFunction(TEAM, 'test_access', { project: `shop${n}x`, channel: CHANNEL });
    workflows.set(n, id);
    return true;
  },
  seen({ slack }, n) {
    const state = slack.functionRun(TEAM, workflows.get(n) ?? '')?.state;
    return state === undefined || state === 'running' ? 0 : 1;
  },
  word: (n) => `shop${n}x`,
  done: (site, n) => made(site, 'test_access', `shop${n}x`),
};

export const ACTS: readonly Act[] = [
  test,
  serverAdd,
  integrationAdd,
  connect,
  roles,
  workflow,
  watch,
  push,
  episode,
  diagnosis,
  outage,
  escalation,
  notice,
  pdfs,
  digest,
  ...GUARD_RUNS,
  setup,
  move,
  uninstall,
];
