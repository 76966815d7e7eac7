import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify as toYaml } from 'yaml';
import { APPLY } from '../../src/cli/apply.ts';
import { BACKUP } from '../../src/cli/backup.ts';
import { EXPORT } from '../../src/cli/configuration.ts';
import { callProgram } from '../../src/cli/program.ts';
import { SECTIONS } from '../../src/cli/sections.ts';
import { Channel } from '../../src/records/channels.ts';
import { TRIED } from '../store/databases.ts';
import { ask, openForm, sayThere } from '../support/asking.ts';
import { byLength } from '../support/length.ts';
import { freshDatabase } from '../support/postgres.ts';
import { MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { temporaryFolder, temporarySqlite } from '../support/temporary.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';

/** As a file may have it that a person wrote. */
const WRITTEN = `workspace: ${TEAM}
roles:
  admin: [${PEOPLE.admin}]
  operator: [${PEOPLE.member}]
  billing: []
channels:
  ${CHANNEL}:
    account: ${ACCOUNT}
    project: { permalink: storefront, name: Storefront }
    commands: [test, connect, digest add, digest list, watch, watch list, invoices notify, audit]
digests:
  monday:
    channel: ${CHANNEL}
    createdBy: ${PEOPLE.admin}
    cadence: { kind: weekly, day: mon, time: 09:00 }
    zone: Europe/Lisbon
    range: last_7_days
    skipQuiet: true
watches:
  failures:
    channel: ${CHANNEL}
    account: ${ACCOUNT}
    createdBy: ${PEOPLE.admin}
    mode: failures
notices:
  ${CHANNEL} ${ACCOUNT}: { channel: ${CHANNEL}, account: ${ACCOUNT}, createdBy: ${PEOPLE.admin} }
`;

/** Each place has a value of its own, as in a file that a person writes. */
const stringify = (value: unknown): string => toYaml(value, { aliasDuplicateObjects: false });

/** Of the tests' Deckhand. */
const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

async function exported(url: string): Promise<string> {
  const { code, out, err } = await callProgram(EXPORT, [], { STORE_URL: url });
  expect([code, err]).toEqual([0, '']);
  return out;
}

/** @param where the store, or a Deckhand with its service too */
async function apply(where: string | TestWorld['config'], text: string | Buffer, ...args: string[]) {
  const file = join(await temporaryFolder(), 'deckhand.yml');
  await writeFile(file, text);
  const own =
    typeof where === 'string'
      ? { STORE_URL: where }
      : { STORE_URL: where.STORE_URL, SERVICE_BASE_URL: where.SERVICE_BASE_URL };
  return callProgram(APPLY, [file, ...args], {
    ...MIN_ENV,
    ENCRYPTION_KEYS,
    NOTICE_INTERVAL_MS: '40',
    ...own,
  });
}

async function openOn(url: string): Promise<TestWorld> {
  const world = await openTestWorld({ env: { STORE_URL: url, NOTICE_INTERVAL_MS: '40' } });
  onTestFinished(() => world.stop());
  world.slack.invite(TEAM, CHANNEL, 'bot');
  world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
  return world;
}

async function openConnected() {
  const world = await openTestWorld({ connected: true });
  onTestFinished(() => world.stop());
  return { world, url: world.config.STORE_URL };
}

test.each(TRIED)('what people set up on $name is the same in an empty store', async ({ fresh }) => {
  const url = await fresh();
  const world = await openOn(url);
  await world.connect();
  const admin = world.as('admin');
  for (const words of [
    'use storefront',
    'digest add weekly:mon 09:00 Europe/Lisbon last_7_days --skip-quiet',
    'digest add cron:"*/5 * * * *" UTC today --project storefront --account acme',
    'watch storefront failures --server web-1 --hours 9-18',
    'watch shop-* transitions',
    'guard add storefront daily 09:00 Europe/Lisbon',
    'invoices notify here',
  ])
    await sayThere(world, words, CHANNEL);
  await openForm(world, 'roles');
  const roles = { admin: [PEOPLE.admin], operator: [PEOPLE.member], billing: [PEOPLE.billing] };
  await admin.submit('roles', {
    ...roles,
    commands: ['test', 'watch', 'digest add', 'guard add', 'invoices notify'],
  });

  // Beside the running Deckhand.
  const text = await exported(url);
  expect(text).not.toContain(API_KEY);
  expect(text).not.toMatch(/sealed|token|secret/i);
  const { channels, digests, guards, watches, notices } = parse(text);
  expect(channels[CHANNEL]).toMatchObject({ account: ACCOUNT, commands: expect.arrayContaining(['watch']) });
  expect([digests, guards, watches, notices].map((section) => Object.keys(section).length)).toEqual([
    2, 1, 2, 1,
  ]);

  const target = await fresh();
  const applied = await apply(target, text);
  expect(applied).toMatchObject({ code: 0, err: '' });
  expect(applied.out.trim().split('\n')).toHaveLength(8);
  expect(await exported(target)).toBe(text);
  expect((await apply(target, text)).out).toBe('Nothing to change.\n');
});

test('what was applied to a new store goes on once its account is connected, with what happens since', async () => {
  const url = await temporarySqlite();
  expect(await apply(url, WRITTEN)).toMatchObject({ code: 0, err: '' });
  const world = await openOn(url);
  const deploy = (endRef: string, endedAt = Date.now()) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded: false,
      endRef,
      endedAt,
    });
  deploy('before1', Date.now() - 3_600_000);
  const posts = () =>
    JSON.stringify([world.slack.messages(TEAM, CHANNEL), world.slack.ephemerals(TEAM, PEOPLE.admin)]);
  const admin = world.as('admin');
  await admin.command(CHANNEL, '/deckhand watch list');
  await world.slack.until(() => /not connected/.test(posts()), { what: 'the paused watch' });
  await world.connect();
  await world.service.requests.next(({ path }) => path.endsWith('/activity'));
  await world.service.requests.next(({ path }) => path.endsWith('/account/invoices'));
  deploy('after22');
  await world.slack.until(() => posts().includes('after22'), { what: 'news of the watch' });
  expect(posts()).not.toContain('before1');
  // The first look at the invoices is no news.
  expect(JSON.stringify(world.slack.messages(TEAM, CHANNEL))).not.toMatch(/(?<!and i)nvoice/);
  await admin.command(CHANNEL, '/deckhand digest list');
  await world.slack.until(() => /monday.*09:00/.test(posts()), { what: 'the digest' });
  expect(await ask(world, '/deckhand audit', 'admin')).toContain('digest monday added');
});

test('a change of the file changes that alone, and a dry run nothing', async () => {
  const url = await temporarySqlite();
  await apply(url, WRITTEN);
  const changed = stringify({
    ...parse(WRITTEN),
    channels: undefined,
    notices: {},
    digests: { monday: { ...parse(WRITTEN).digests.monday, range: 'this_week', channel: 'C0BILLING' } },
    watches: { failures: { ...parse(WRITTEN).watches.failures, channel: 'C0BILLING', mode: 'all' } },
  });
  const lines = [
    `invoice notices ${CHANNEL} ${ACCOUNT} removed`,
    'digest monday changed: range, channel',
    'watch failures changed: mode, channel',
  ];
  const before = await exported(url);
  const dry = await apply(url, changed, '--dry-run');
  expect([dry.code, dry.out.trim().split('\n')]).toEqual([0, ['Would change:', ...lines]]);
  expect(await exported(url)).toBe(before);

  const { code, out } = await apply(url, changed);
  expect([code, out.trim().split('\n')]).toEqual([0, lines]);
  const after = parse(await exported(url));
  expect(after.digests.monday).toMatchObject({ range: 'this_week', channel: 'C0BILLING' });
  expect(after.watches.failures).toMatchObject({ mode: 'all', channel: 'C0BILLING' });
  // A section that the file leaves out stays as it is.
  expect(after.channels).toEqual(parse(before).channels);
  expect((await apply(url, changed)).out).toBe('Nothing to change.\n');
});

test.each([
  ['a misspelt field', 'skipQuiet:', 'skipquiet:', 'skipquiet: There is no such field.'],
  ['a misspelt field of those that tell apart', 'kind:', 'knid:', 'knid: There is no such field.'],
  ['an unknown command', 'commands: [test', 'commands: [tset', 'There is no command tset.'],
  ['an unknown zone', 'zone: Europe/Lisbon', 'zone: Europe/Lisbom', 'digests.monday.zone: '],
  ['a date that never is', 'cadence: {', 'cadence: { kind: cron, cron: 0 0 30 2 * } #', 'monday.cadence: '],
  ['roles without an admin', `admin: [${PEOPLE.admin}]`, 'admin: []', 'roles.admin: Name somebody'],
  ['notices under another name', `${CHANNEL} ${ACCOUNT}:`, 'billing:', `has to be ${CHANNEL} ${ACCOUNT}.`],
  ['no YAML', 'roles:', 'roles: "', ''],
  ['a section twice', 'notices:', 'digests: {}\nnotices:', 'unique'],
  ['a tag', 'skipQuiet: true', 'skipQuiet: !!js/function x', 'js/function'],
  ['an alias', 'billing: []', 'billing: *all', 'Aliases (*)'],
  ['a prototype', 'digests:', '__proto__: { digests: {} }\ndigests:', '__proto__: There is no such field.'],
  ['a name that is a list', 'digests:', '? [1]\n: 2\ndigests:', 'A name has to be a word.'],
  ['an account that is an address', 'account: acme', 'account: http://evil.example', 'There is no account'],
  ['an id that is too long', 'C0DEPLOYS:', `C${'0'.repeat(900)}: {}\n  C0DEPLOYS:`, 'That is no id'],
  ['an id of one letter', 'monday:', 'm:', 'An id has 2 to 20 small letters, digits and hyphens'],
  ['an id that begins with a digit', 'monday:', '1st:', 'and begins with a letter.'],
  [
    'an escape',
    'mode: fail',
    '"\\e[2J\u009b\u2028": 1\n    mode: fail',
    '\\u001b[2J\\u009b\\u2028: There is no',
  ],
  ['nesting that parses', 'threads', `x: ${'['.repeat(200)}${']'.repeat(200)}\n#`, 'nested too deeply'],
])('%s is refused with its line, and nothing is changed', async (_, from, to, fault) => {
  const url = await temporarySqlite();
  await apply(url, `workspace: ${TEAM}`);
  const [before = '', ...after] = WRITTEN.split(from);
  const text = before + to + after.join(from);
  const { code, out, err } = await apply(url, text);
  expect([code, out]).toEqual([65, '']);
  const line = before.split('\n').length;
  const named = to.endsWith('"') ? /line \d+: / : new RegExp(`^line ${line}: `, 'm');
  expect(err).toMatch(named);
  expect(err).toContain(fault);
  // The right field is not called missing.
  if (fault.includes('no such field')) expect(err.trim().split('\n')).toHaveLength(1);
  expect((await apply(url, WRITTEN, '--dry-run')).out).toContain('digest monday added');
});

test('a watch or workspace twice, a workspace that the store does not have, and too many schedules are refused', async () => {
  const url = await temporarySqlite();
  await apply(url, WRITTEN);
  const { monday } = parse(WRITTEN).digests;
  const digests = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`d${at}`, monday]));
  const other = `{ channel: ${CHANNEL}, account: ${ACCOUNT}, createdBy: U1, mode: all }`;
  for (const [text, words] of [
    [WRITTEN.replace(TEAM, 'T0OTHER'), `line 1: workspace: The store has ${TEAM} alone.`],
    [
      `${WRITTEN}---\nworkspace: ${TEAM}\nnotices: {}\n`,
      `line ${WRITTEN.split('\n').length + 1}: workspace: ${TEAM} is already above.`,
    ],
    [
      WRITTEN.replace('watches:\n', `watches:\n  another: ${other}\n`),
      'failures: It is the same watch as another.',
    ],
    [
      `${WRITTEN.replace('mode: failures', 'mode: failures\n    pattern: shop')}`,
      'failures.pattern: Put a star where any text may stand',
    ],
    [stringify({ workspace: TEAM, digests }), 'would have 53 schedules'],
  ] as const) {
    const before = await exported(url);
    const { code, err } = await apply(url, text);
    expect([code, err]).toEqual([65, expect.stringContaining(words)]);
    expect(await exported(url)).toBe(before);
  }
});

test.each([
  ['nothing', '', 'line 1: The file is empty.\n'],
  ['another encoding', Buffer.from('workspace: T1\n# \xe9', 'latin1'), 'line 2: The file is not in UTF-8.\n'],
  ['21 MB', Buffer.alloc(21_000_000, '#'), 'The file is larger than 20 MB.\n'],
])('a file of %s is refused', async (_, text, err) => {
  expect(await apply(await temporarySqlite(), text)).toEqual({ code: 65, out: '', err });
});

const CHANNELS = byLength(2_000, 10_000);

test('thousands of channels are set up within a millisecond each, and are compared with the file as fast', async () => {
  const url = await temporarySqlite();
  const entries = Array.from(
    { length: CHANNELS },
    (_, at) => `  C${at}A: { account: ${ACCOUNT}, zone: UTC }`,
  );
  const text = `workspace: ${TEAM}\nchannels:\n${entries.join('\n')}\n`;
  const before = process.cpuUsage();
  const { code, out } = await apply(url, text);
  expect([code, out.trim().split('\n').length]).toEqual([0, CHANNELS]);
  expect((await apply(url, text)).out).toBe('Nothing to change.\n');
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(CHANNELS);
  const misspelt = text.replaceAll('zone: UTC', 'zne: UTC');
  const refused = await apply(url, misspelt);
  expect([refused.code, refused.err.trim().split('\n').length]).toEqual([65, CHANNELS]);
});

describe('a schedule that may not run', () => {
  const isPaused = async (world: TestWorld, kind: 'digest' | 'watch') =>
    (await world.app.workspaces.open(TEAM).schedules.list(kind)).map(({ state }) => state.kind);
  const said = ({ slack }: TestWorld) => [...slack.messages(TEAM, CHANNEL), ...slack.dms(TEAM, PEOPLE.admin)];

  test.each([
    ['its command is switched off by the file', WRITTEN.replace(' digest add,', ''), true],
    ['no account is connected', stringify({ workspace: TEAM, digests: parse(WRITTEN).digests }), false],
  ])('is added paused, and nobody is told, if %s', async (_, text, isConnected) => {
    const world = await openTestWorld({ connected: isConnected, env: { NOTICE_INTERVAL_MS: '40' } });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.restart(async () => {
      expect(await apply(world.config, text)).toMatchObject({ code: 0, err: '' });
    });
    expect(await isPaused(world, 'digest')).toEqual(['paused']);
    expect(said(world)).toEqual([]);
  });

  test('pauses beside a running Deckhand when a file switches its command off, and goes on when one allows it', async () => {
    const world = await openOn(await freshDatabase());
    await world.connect();
    expect(await apply(world.config, WRITTEN)).toMatchObject({ code: 0, err: '' });
    expect(await isPaused(world, 'watch')).toEqual(['active']);
    for (const [text, state] of [
      [WRITTEN.replace(' watch, watch list,', ''), 'paused'],
      [WRITTEN, 'active'],
    ] as const) {
      expect(await apply(world.config, text)).toMatchObject({ code: 0, err: '' });
      await expect.poll(() => isPaused(world, 'watch')).toEqual([state]);
    }
  });
});

describe('a project that the account does not have, or an account that is not connected', () => {
  const typo = WRITTEN.replace('permalink: storefront', 'permalink: storefrnt').replace(
    'Lisbon\n',
    'Lisbon\n    project: { permalink: storfront, name: Storefront }\n',
  );
  const line = (words: string) => typo.slice(0, typo.indexOf(words)).split('\n').length;
  const faults = [
    `line ${line('storefrnt')}: channels.${CHANNEL}.project.permalink: There is no project storefrnt in ${ACCOUNT}.`,
    `line ${line('storfront')}: digests.monday.project.permalink: There is no project storfront in any account.`,
    '',
  ].join('\n');

  test('is known by its identifier, also if its permalink was another when the file was written', async () => {
    const { world } = await openConnected();
    const identifier = world.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.identifier;
    const renamed = WRITTEN.replace(
      'permalink: storefront',
      `permalink: storefrnt, identifier: ${identifier}`,
    );
    const { code, err } = await apply(world.config, renamed, '--dry-run');
    expect([code, err]).toEqual([0, '']);
  });

  test('is refused with its line, also in a dry run, and nothing is changed', async () => {
    const { world, url } = await openConnected();
    await world.restart(async () => {
      const before = await exported(url);
      expect(await apply(world.config, typo, '--dry-run')).toEqual({ code: 65, out: '', err: faults });
      expect(await apply(world.config, typo)).toEqual({ code: 65, out: '', err: faults });
      const unknown = WRITTEN.replace(`account: ${ACCOUNT}\n    createdBy`, 'account: acmee\n    createdBy');
      const { err } = await apply(world.config, unknown);
      expect(err).toBe('line 22: watches.failures.account: There is no account acmee.\n');
      expect(await exported(url)).toBe(before);
      expect(await apply(world.config, WRITTEN)).toMatchObject({ code: 0, err: '' });
      // Nothing that is there already is asked for.
      world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 500 });
      expect((await apply(world.config, WRITTEN)).out).toBe('Nothing to change.\n');
    });
  });

  test('is not known where the service does not answer, and waits where the key does not work', async () => {
    const { world } = await openConnected();
    const fault = world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 500 });
    await world.restart(async () => {
      const { code, out, err } = await apply(world.config, typo);
      expect([code, out]).toEqual([75, '']);
      expect(err).toBe(
        `The service does not answer, so the projects of ${ACCOUNT} could not be checked. Nothing was changed. Try again later.\n`,
      );
    });
    expect(await apply(world.config, typo, '--dry-run')).toMatchObject({ code: 75 });
    fault.remove();
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 401 });
    expect(await apply(world.config, typo, '--dry-run')).toMatchObject({ code: 0 });
  });
});

test('SQLite’s file is left alone while a Deckhand has it', async () => {
  const { world } = await openConnected();
  const { code, err } = await apply(world.config, WRITTEN);
  expect([code, err]).toEqual([
    75,
    expect.stringMatching(/is in use by another Deckhand\. Stop that one first/),
  ]);
  expect(await apply(world.config, WRITTEN, '--dry-run')).toMatchObject({ code: 0 });
});

test('programs that read leave a run alone that a Deckhand follows', async () => {
  const { world, url } = await openConnected();
  const isAsked = (verb: string) => (request: { path: string; method: string }) =>
    request.path.includes('/test_access') && request.method === verb;
  const follows = async () => (await world.app.parts.engine.stats())['follow-test'];
  const LONG_MS = 600_000;
  world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: LONG_MS });
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  await world.service.requests.seen(isAsked('GET'));
  expect(await follows()).toMatchObject({ running: 1, waiting: 0 });

  await exported(url);
  expect(await apply(world.config, WRITTEN, '--dry-run')).toMatchObject({ code: 0 });
  const backup = join(await temporaryFolder(), 'backup');
  expect(await callProgram(BACKUP, [backup], { STORE_URL: url })).toMatchObject({ code: 0 });

  expect(await follows()).toMatchObject({ running: 1, waiting: 0 });
  world.service.clock.advance(LONG_MS);
  await world.slack.until(() => /reachable/.test(JSON.stringify(world.slack.messages(TEAM, CHANNEL))));
  expect(world.service.requests.all.filter(isAsked('POST'))).toHaveLength(1);
  expect(JSON.stringify(world.slack.messages(TEAM, CHANNEL))).not.toMatch(/stopped|restarted/i);
});

test('a watch of one’s own deployments is neither printed nor removed', async () => {
  const { world, url } = await openConnected();
  world.service.world.addDeployment({
    account: ACCOUNT,
    project: 'storefront',
    succeeded: true,
    user: 'Kim',
  });
  await ask(world, '/deckhand me Kim');
  expect(await ask(world, '/deckhand watch mine')).toContain('of your own deployments');
  const text = await exported(url);
  expect(text).not.toContain(PEOPLE.member);
  expect(parse(text).watches).toEqual({});
  await world.restart(async () => {
    expect((await apply(world.config, text)).out).toBe('Nothing to change.\n');
  });
  expect(await ask(world, '/deckhand unwatch mine')).not.toContain('no watch');
});

test('every setting of a channel and a watch is the same after export and apply', async () => {
  const url = await temporarySqlite();
  const odd = 'yes: #"\u2028\u009b\u{1f600}';
  const zone = 'Asia/Kolkata';
  const channel = {
    account: 'a',
    project: { permalink: odd, name: odd },
    threads: false,
    layout: 'compact',
    diagnose: false,
    commands: ['digest add'],
    zone,
  };
  expect(Object.keys(channel).toSorted()).toEqual(Object.keys(Channel.shape).toSorted());
  const watch = {
    channel: 'G1',
    account: 'a',
    createdBy: 'U1',
    project: { permalink: odd, identifier: odd, name: odd },
    server: { identifier: odd, name: odd },
    mode: 'transitions',
    hours: { from: '22:00', to: '24:00', zone },
    escalation: { mention: 'S1', name: odd, after: 240 },
  };
  const empty = Object.fromEntries(SECTIONS.map(({ name }) => [name, {}]));
  const sections = { ...empty, watches: { w1: watch } };
  const all = { workspace: TEAM, roles: parse(WRITTEN).roles, channels: { C1: channel }, ...sections };
  expect(await apply(url, stringify(all))).toMatchObject({ code: 0, err: '' });
  expect(parse(await exported(url))).toEqual(all);
});

test('both run by their names, as the bundle has them', async () => {
  const url = await temporarySqlite();
  const file = join(await temporaryFolder(), 'deckhand.yml');
  await writeFile(file, WRITTEN);
  const env = { ...MIN_ENV, STORE_URL: url };
  expect(await runDeckhand({ args: ['apply', file], env })).toMatchObject({ code: 0, err: '' });
  const { out } = await runDeckhand({ args: ['export', '--workspace', TEAM], env: { STORE_URL: url } });
  expect(parse(out).digests).toEqual(parse(WRITTEN).digests);
  expect(await callProgram(EXPORT, ['--workspace', 'T9'], { STORE_URL: url })).toMatchObject({
    code: 78,
    err: expect.stringContaining('has nothing of T9'),
  });
});
