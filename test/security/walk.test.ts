import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEMO_USERS } from '../../sandbox/service/seed/demo-facts.ts';
import { type Clock, systemClock } from '../../src/core/time/clock.ts';
import { asSlackShows, asSlackShowsPlain } from '../support/as-slack-shows.ts';
import { ask, openForm } from '../support/asking.ts';
import { openProxy, type ServiceProxy } from '../support/proxy.ts';
import { storedText } from '../support/stored-text.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { createWalked, failWatched, walk } from './walk.ts';

const { email, apiKey, firstName, lastName } = DEMO_USERS.admin;
// Late on a working day there are deployments of today, and so a chart of each project's.
const BUSY_DAY_OFFSET = Date.parse('2026-03-04T17:00:00Z') - Date.now();
const BUSY_DAY: Clock = { ...systemClock, now: () => systemClock.now() + BUSY_DAY_OFFSET };
/** Slack must show each of these letters, and nothing else between the angle quotes. */
const LETTERS = '«_a_ *b* ~c~ `d` :tada: 2001:db8:100:b::1 &amp; <!here> **e**»';
const HOSTILE = [
  LETTERS,
  ' <!channel> <https://evil.example|ok> <@U0EVIL> @here \u202eevil\u0007 </script>',
  'https://evil.example/login www.evil.example mailto:ops@evil.example javascript:alert(1) [ok](https://evil.example)',
].join(' ');
/** Beyond every limit of Slack, by what it counts: characters, escapes, joined emoji, letters from the right, half an emoji. */
const LONG = [
  'x'.repeat(3_500),
  '&'.repeat(3_500),
  '👩‍👩‍👧‍👦'.repeat(500),
  'שלום עולם '.repeat(350),
  '\ud800',
];
/** More rows than a table or a menu of Slack takes. */
const MANY = 110;
/** What the service's own records are told apart by; everything else that is text becomes hostile. */
const KEPT =
  /(^|_)(identifier|id|permalink|status|type|event|kind|key|at|url|date|zone|range|currency|account|slug|protocol|region|size|subdomain|state|number|total|vat|cost|price|delta|rate|scope)$/;
let texts = 0;

/** Each fourth text is long too, or the answers themselves would be too large. */
function makeHostile(value: unknown, key: string): unknown {
  if (typeof value === 'string') {
    if (KEPT.test(key)) return value;
    texts += 1;
    return `${value}${HOSTILE}${texts % 4 === 0 ? LONG[(texts / 4) % LONG.length] : ''}`;
  }
  if (Array.isArray(value)) return value.map((item) => makeHostile(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, makeHostile(part, name)]));
}

/** A list of records with many more, which are told apart as the others are. */
function addRecords(value: unknown): unknown {
  if (!Array.isArray(value) || typeof value[0] !== 'object' || value.length >= MANY) return value;
  const more = Array.from({ length: MANY - value.length }, (_, at) => {
    const record = value[at % value.length] as Record<string, unknown>;
    const ids = ['identifier', 'permalink', 'number', 'slug', 'id'].filter((name) => name in record);
    return {
      ...record,
      ...Object.fromEntries(
        ids.map((name) => [name, typeof record[name] === 'number' ? 9_000 + at : `${record[name]}-${at}`]),
      ),
    };
  });
  return [...value, ...more];
}

describe('a walk through all commands, buttons and forms, where all that the service says is hostile', () => {
  let world: TestWorld;
  let proxy: ServiceProxy;

  beforeAll(async () => {
    proxy = await openProxy();
    const walked = createWalked();
    world = await openTestWorld({
      seed: 'demo',
      time: BUSY_DAY,
      speed: 20,
      tracing: walked.tracing,
      env: { SERVICE_BASE_URL: `${proxy.origin}/{account}`, LOG_LEVEL: 'trace', NOTICE_INTERVAL_MS: '2000' },
    });
    proxy.target = world.service.origin;
    const ann = await openForm(world, 'connect');
    await ann.submit('connect', { account: 'acme', email, api_key: apiKey });
    // With a name of one's own, so that there is a watch of one's own to end.
    expect(await ask(world, `/deckhand me ${firstName} ${lastName}`, 'admin')).toContain('You are mentioned');
    proxy.change = (body) => {
      const ours = body.replaceAll(world.service.origin, proxy.origin);
      return JSON.stringify(makeHostile(addRecords(JSON.parse(ours)), ''));
    };
    await failWatched(world, walked);
    await walk(world, walked);
  });
  afterAll(async () => {
    await world.stop();
    await proxy.close();
  });

  it('shows what the service said, and meets no bug', () => {
    expect(JSON.stringify(produced()).split('evil.example').length).toBeGreaterThan(100);
    expect(world.logs.filter((line) => line.includes('"event":"bug"'))).toEqual([]);
    expect(world.slack.files(TEAM).length).toBeGreaterThan(0);
  });

  it('lets no mention, link or direction mark of it come alive', () => {
    const alive = shown().filter(({ text, isPlain }) => MARKS.test(text) || (!isPlain && LIVE.test(text)));
    expect(alive).toEqual([]);
  });

  it('is shown letter for letter', () => {
    const changed = shown().flatMap((leaf) => {
      const samples = drawAsSlack(leaf).match(/«[^»…]*[»…]?/gu) ?? [];
      return samples
        .filter((sample) => !LETTERS.startsWith(sample.replace('…', '')))
        .map((sample) => [sample, leaf]);
    });
    expect(changed).toEqual([]);
  });

  it('leaves no plain address that Slack would make a link of', () => {
    const texts = shown().filter(({ isPlain }) => !isPlain);
    const linked = texts.filter(({ isVerbatim, key, text }) =>
      isVerbatim === undefined
        ? // Only what is in `<…>` is a link that we named.
          SHOWN.has(key) && PLAIN_ADDRESS.test(text.replace(/<[^>]*>/g, ''))
        : !isVerbatim,
    );
    expect(linked).toEqual([]);
  });

  it('leads nobody to a foreign address', () => {
    const known = new Set([
      proxy.origin,
      world.service.origin,
      world.slack.origin,
      'https://house.slack.com',
      `https://walked.${world.config.SERVICE_SITES_DOMAIN}`,
      // The pages of commits, as the service names them.
      'https://code.example.com',
    ]);
    const addresses = shown().flatMap(({ isPlain, key, text }) => {
      if (isPlain) return [];
      if (/(^|_)url$/.test(key) && /^https?:/.test(text)) return [text];
      return [...text.matchAll(/<(https?:[^|>\s]+)/g)].map(([, url = '']) => url);
    });
    expect(addresses.filter((url) => !known.has(new URL(url).origin))).toEqual([]);
  });

  it('writes no secret into the log, and no key or token into the database', async () => {
    const lines = world.logs.join('');
    const stored = await storedText(world.config.STORE_URL);
    const { config, slack } = world;
    const received = slack.deliveries.map(({ payload }) => payload as Record<string, unknown>);
    const handles = received.flatMap(({ trigger_id, response_url }) => [trigger_id, response_url]);
    const keys = [apiKey, Buffer.from(`${email}:${apiKey}`).toString('base64')];
    const tokens = [config.SLACK_BOT_TOKEN ?? '', config.SLACK_SIGNING_SECRET ?? ''];
    expect([...keys, ...tokens].filter((secret) => stored.includes(secret))).toEqual([]);
    const secrets = [
      ...keys,
      ...tokens,
      slack.app.clientSecret,
      slack.app.verificationToken,
      Buffer.alloc(32, 7).toString('base64'),
      '<https://evil.example|typed>',
      ...handles,
    ].filter((secret): secret is string => typeof secret === 'string' && secret !== '');
    expect(secrets.length).toBeGreaterThan(100);
    expect(secrets.filter((secret) => lines.includes(secret))).toEqual([]);
  });

  it('logs what is allowed alone, with messages that are always the same', () => {
    const sources = globSync('src/**/*.ts', { cwd: root }).map((file) =>
      readFileSync(join(root, file), 'utf8'),
    );
    const source = sources.join('\n');
    const lines = world.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    const names = new Set(lines.flatMap((line) => Object.keys(line)));
    expect(
      [...names].filter((name) => !FIELDS.has(name)),
      'If it can hold no secret or foreign text, add it to ALLOWED in src/observability/log.ts.',
    ).toEqual([]);
    const made = new Set(lines.map(({ msg }) => String(msg)));
    expect(
      [...made].filter((msg) => !source.includes(`'${msg}'`)),
      'Log a sentence that is always the same, and the rest as fields.',
    ).toEqual([]);
  });

  it('leaves an entry in the audit log for every change', async () => {
    const entries = await world.app.workspaces.open(TEAM).audit.latest(1000);
    const what = new Set(entries.map(({ entry }) => entry.what));
    const durable = world.app.commands.filter((command) => command.durable === true).map(({ name }) => name);
    expect([...what]).toEqual(expect.arrayContaining(['connect', 'settings', 'roles', 'use', 'test']));
    const missing = durable.filter(
      (name) => ![...what].some((one) => one.startsWith(name) || isPassedOn(name, one)),
    );
    expect(
      missing,
      'Return `audit` with its reply. If the walk cannot run it, give it words in WORDS of test/security/walk.ts.',
    ).toEqual([]);
  });

  const shown = (): Leaf[] => [...leavesOf(produced())];

  /** Everything that was sent to Slack: calls, messages by whatever way, answers to forms and menus. */
  function produced(): unknown[] {
    const { slack } = world;
    const seen = Object.values(PEOPLE).flatMap((user) => [
      ...slack.ephemerals(TEAM, user),
      ...slack.dms(TEAM, user),
    ]);
    const roots = slack.messages(TEAM, CHANNEL);
    return [
      ...slack.calls.map(({ args }) => args),
      ...slack.deliveries.map(({ body }) => body),
      ...seen,
      ...roots,
      ...roots.flatMap(({ ts }) => slack.thread(TEAM, CHANNEL, ts)),
    ];
  }
});

const root = join(import.meta.dirname, '..', '..');
const FIELDS = new Set(
  (/ALLOWED[^`]*`([^`]+)`/.exec(readFileSync(join(root, 'src/observability/log.ts'), 'utf8'))?.[1] ?? '')
    .split(/\s+/)
    .concat('level', 'time', 'msg'),
);

const LIVE = /<!(?:channel|here|everyone|subteam)|<@U0EVIL|<https?:\/\/evil/;
const MARKS = /(?!\n)\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const PLAIN_ADDRESS = /https?:\/\/|mailto:\w|javascript:\w/;
const SHOWN = new Set(['text', 'fallback', 'pretext', 'initial_comment']);
/** Keys that people never see: values for the way back, and what they typed themselves. */
const UNSEEN = new Set([
  'private_metadata',
  'value',
  'initial_value',
  'block_id',
  'action_id',
  'state',
  'client_msg_id',
]);

interface Leaf {
  key: string;
  text: string;
  /** True if Slack shows markup as it is. */
  isPlain: boolean;
  /** True if Slack draws the emoji that a plain text names. */
  isEmojiAllowed: boolean;
  /** Of a text with markup, whether Slack makes no links of it; undefined for other texts. */
  isVerbatim: boolean | undefined;
}

function drawAsSlack({ text, isPlain, isEmojiAllowed }: Leaf): string {
  return isPlain ? asSlackShowsPlain(text, isEmojiAllowed) : asSlackShows(text);
}

/** The texts of a payload that people see. Arguments and answers travel as JSON in strings. */
function* leavesOf(part: unknown, leaf: Omit<Leaf, 'text'> = ROOT): Generator<Leaf> {
  const inner = typeof part === 'string' ? parsed(part) : part;
  if (typeof part === 'string' && inner === undefined) yield { ...leaf, text: part };
  else if (Array.isArray(inner)) for (const item of inner) yield* leavesOf(item, leaf);
  else
    for (const [key, value] of Object.entries(inner ?? {}))
      if (!UNSEEN.has(key)) yield* leavesOf(value, readLeaf(inner as object, key, leaf.key === 'errors'));
}

const ROOT = { key: '', isPlain: false, isEmojiAllowed: false, isVerbatim: undefined };
const PLAIN = ['plain_text', 'raw_text', 'text', 'link'];

/** Slack documents the title of a task as plain text. */
function readLeaf(parent: object, key: string, isError: boolean): Omit<Leaf, 'text'> {
  const { type, verbatim, emoji } = parent as { type?: string; verbatim?: boolean; emoji?: boolean };
  const isPlain = isError || PLAIN.includes(`${type}`) || /^title (task_card|plan)$/.test(`${key} ${type}`);
  const isEmojiAllowed = type === 'plain_text' && emoji !== false;
  const isVerbatim = /^(mrkdwn|markdown)$/.test(`${type}`) ? verbatim === true : undefined;
  return { key, isPlain, isEmojiAllowed, isVerbatim };
}

function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // text that only begins like JSON
  }
}

/** `pause` and `resume` run the command of the schedule that they mean, which leaves the entry: "watch pause". */
function isPassedOn(name: string, what: string): boolean {
  return ['pause', 'resume'].includes(name) && what.endsWith(` ${name}`);
}
