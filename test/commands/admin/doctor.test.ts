import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { BACKUP } from '../../../src/cli/backup.ts';
import { DOCTOR } from '../../../src/cli/doctor.ts';
import { callProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openBackend } from '../../../src/open.ts';
import { recordBackup } from '../../../src/store/open-store.ts';
import { ask } from '../../support/asking.ts';
import { BRISK, briskClock } from '../../support/faults.ts';
import { test as base } from '../../support/fixtures.ts';
import { MIN_ENV, runDeckhand } from '../../support/run-deckhand.ts';
import { sendSigned } from '../../support/signed.ts';
import { temporaryFolder, temporarySqlite } from '../../support/temporary.ts';
import { ACCOUNT, EMAIL, type TestWorldOptions } from '../../support/test-world.ts';

const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
const test = base.extend('connected', () => true).extend('worldOptions', (): TestWorldOptions => BRISK);

const OFFERS =
  'steps of deployments, logs of steps, commits that wait, lists of integrations, single integrations, ' +
  'removal of integrations, notices of failed checks, another try for managed servers, status of billing';

describe('doctor', () => {
  test('says what the key may not do, and who may, without calling it a problem', async ({ world }) => {
    const { world: service } = world.service;
    service.updateAccount({ account: ACCOUNT, betaFeatures: false });
    expect(await ask(world, '/deckhand doctor')).toContain(
      '*Managed hosting of `acme`*  is not enabled. `/deckhand beta enroll` enables it',
    );
    expect(service.state.accounts.get(ACCOUNT)?.betaFeatures).toBe(false);
    service.updateAccount({ account: ACCOUNT, betaFeatures: true });
    service.updateUser({ account: ACCOUNT, email: EMAIL, billing: false, permissions: [] });
    const said = await ask(world, '/deckhand doctor');
    expect(said).toContain('Nothing is broken');
    expect(said).toContain(':information_source: *Invoices of `acme`*  the key may not read them');
    expect(said).toContain('Only the key of a billing manager may');
    expect(said).toContain(':information_source: *Managed hosting of `acme`*  the key may not use it');
  });

  test('takes neither an outage nor a refused key for a missing permission', async ({ world }) => {
    const invoices = { path: `/${ACCOUNT}/account/invoices`, status: 500 };
    const fault = world.service.faults.add(invoices);
    const said = await ask(world, '/deckhand doctor');
    expect(said).toContain('1 problem found');
    expect(said).toContain(':x: *Invoices of `acme`*');
    fault.remove();
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 401 });
    world.service.requests.clear();
    const refused = await ask(world, '/deckhand doctor');
    expect(refused).toContain('1 problem found');
    expect(refused).not.toContain('Invoices of');
    expect(world.service.requests.all.map(({ path }) => path)).toEqual(['/profile']);
  });

  test('has a line for each check, also from a shell beside a running Deckhand, and ends with 1 after a fault', async ({
    world,
  }) => {
    const { SLACK_SIGNING_SECRET, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL } = world.config;
    const { SERVICE_BASE_URL, SERVICE_SIGNUP_URL } = world.config;
    const settings = {
      SERVICE_SIGNUP_URL,
      SLACK_SIGNING_SECRET,
      SLACK_BOT_TOKEN,
      SLACK_API_URL,
      SERVICE_BASE_URL,
      STORE_URL,
    };
    const run = (env = {}) => callProgram(DOCTOR, [], { ...MIN_ENV, ENCRYPTION_KEYS, ...settings, ...env });
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
    const here = await ask(world, '/deckhand doctor');
    expect(here).toContain('Everything works');
    expect(here).toContain('*Scheduler*  runs');
    expect(await run()).toEqual({
      code: 0,
      err: '',
      out: `ok     Store: answers
ok     Scheduler: no due job waits
ok     Slack: the token works
ok     Account acme: the key works
ok     Invoices of acme: the key may read them
ok     Managed hosting of acme: the key may use it
ok     API description: agrees with Deckhand's calls, but leaves out 3 of them and 1 required field
ok     The service also offers: ${OFFERS}
`,
    });
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 500 });
    world.slack.fault({ method: 'apps.connections.open', error: 'invalid_auth' });
    const { code, out } = await run({ SLACK_APP_TOKEN: 'xapp-1' });
    expect(code).toBe(1);
    expect(out).toContain('FAULT  App token: Slack refuses it: invalid_auth\n');
    expect(out).toMatch(/^FAULT {2}Account acme: The service/m);
    // What the checks found is theirs alone.
    expect(await ask(world, '/deckhand projects')).toContain('2 projects');
  });

  test('of a new installation finds no fault', async ({ world }) => {
    const { SLACK_BOT_TOKEN, SLACK_API_URL } = world.config;
    const STORE_URL = await temporarySqlite();
    const env = { ...MIN_ENV, ENCRYPTION_KEYS, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL };
    const { close } = await openBackend(STORE_URL, { clock: systemClock });
    await close();
    const { code, out } = await callProgram(DOCTOR, [], env);
    expect(out).toContain('note   Accounts: none is connected. An admin can run /deckhand connect\n');
    expect([code, out]).toEqual([0, expect.not.stringContaining('FAULT')]);

    // The other checks need no Slack.
    const away = await callProgram(DOCTOR, [], { ...env, SLACK_API_URL: 'http://127.0.0.1:9/api/' });
    expect(away.code).toBe(1);
    expect(away.out.match(/^FAULT.*$/gm)).toEqual([
      'FAULT  Slack: Slack cannot be reached: the connection was refused',
    ]);
    for (const what of ['Store: answers', 'Scheduler: no due', 'Accounts: none'])
      expect(away.out).toContain(what);
    const refused = await callProgram(DOCTOR, [], { ...env, SLACK_BOT_TOKEN: 'xoxb-wrong' });
    expect(refused.out).toContain('FAULT  Slack: Slack refuses it: invalid_auth\n');
    expect(refused.out).toContain('Store: answers');
  });

  test('from a shell says that Slack’s requests have another signature, until one is right', async ({
    world,
  }) => {
    const { SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL } = world.config;
    const env = { ...MIN_ENV, ENCRYPTION_KEYS, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL };
    const signingSecret = () =>
      callProgram(DOCTOR, [], env).then(({ out }) => out.match(/^.*Signing secret.*$/m)?.[0]);
    await sendSigned(world, 'command=%2Fdeckhand', { signature: `v0=${'f'.repeat(64)}` });
    expect(await world.logged('signature_refused')).toContain('check SLACK_SIGNING_SECRET');
    await expect.poll(signingSecret).toMatch(/^FAULT {2}Signing secret: .* Check SLACK_SIGNING_SECRET$/);
    await ask(world, '/deckhand whoami');
    await expect.poll(signingSecret).toBeUndefined();
  });

  test('says which calls Slack limits, and the log says so once a minute', async ({ world }) => {
    const isWell = ':white_check_mark: *Slack*';
    expect(await ask(world, '/deckhand doctor')).toContain(isWell);
    world.slack.fault({ method: 'auth.test', status: 429, retryAfter: 1, times: 2 });
    const limited = await ask(world, '/deckhand doctor');
    expect(limited).toContain(isWell);
    const later = await ask(world, '/deckhand doctor');
    expect(later).toMatch(/:information_source: \*Slack’s rate limits\* {2}Slack limited `auth.test` .+ ago/);
    expect(world.logs.filter((line) => line.includes('"slack_busy"'))).toHaveLength(1);
    expect(await world.logged('slack_busy')).toContain('"method":"auth.test"');
  });

  test('from a shell says that a nightly backup was not made', async ({ world }) => {
    const { SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL } = world.config;
    const env = { ...MIN_ENV, ENCRYPTION_KEYS, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL };
    const backup = () => callProgram(DOCTOR, [], env).then(({ out }) => out.match(/^.*Backup: .*$/m)?.[0]);
    expect(await backup()).toBeUndefined();
    const folder = await temporaryFolder();
    expect(await callProgram(BACKUP, ['--nightly', join(folder, 'copy')], env)).toMatchObject({
      code: 0,
      err: '',
    });
    expect(await backup()).toMatch(/^ok {5}Backup: the latest was made at 2/);
    const { store, close } = await openBackend(STORE_URL, { clock: systemClock, access: 'beside' });
    await recordBackup(store, { at: Date.now() - 40 * 3_600_000, due: Date.now() - 36_000_000 });
    await close();
    expect(await backup()).toMatch(
      /^FAULT {2}Backup: the latest was made at 2.*, and the nightly one since then was not$/,
    );
    // One by hand does not end the nightly ones.
    await callProgram(BACKUP, [join(folder, 'other')], env);
    expect(await backup()).toMatch(/^FAULT/);
  });

  test('from a shell says that nobody does the jobs that are due', async ({ world }) => {
    const { SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL } = world.config;
    const env = { ...MIN_ENV, ENCRYPTION_KEYS, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL };
    await world.restart(async () => {
      const database = new DatabaseSync(STORE_URL.slice('sqlite://'.length));
      const late = Date.now() - 180_000;
      database.exec(
        `INSERT INTO deckhand_jobs (queue, workspace, data, due) VALUES ('note', 'T1', '{}', ${late})`,
      );
      database.close();
      const { code, out } = await callProgram(DOCTOR, [], env);
      expect(code).toBe(1);
      expect(out).toMatch(/^FAULT {2}Scheduler: A job has been due for 3 min/m);
    });
  });
});

const HOUR_MS = 3_600_000;
let passedMs = 0;
const time = { ...briskClock, now: () => Date.now() + passedMs };

describe('the clock in doctor', () => {
  test.override({ worldOptions: { env: BRISK.env, time } });

  test('is wrong once requests were refused for their time for a quarter of an hour', async ({ world }) => {
    const { SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL } = world.config;
    const env = { ...MIN_ENV, ENCRYPTION_KEYS, SLACK_BOT_TOKEN, SLACK_API_URL, STORE_URL };
    const clock = () => callProgram(DOCTOR, [], env).then(({ out }) => out.match(/^.*Clock: .*$/m)?.[0]);
    const refuse = () => sendSigned(world, 'command=%2Fdeckhand', { offset: -4_000 });
    await ask(world, '/deckhand whoami');
    await refuse();
    await refuse();
    await refuse();
    expect(await clock()).toBeUndefined();
    passedMs += 0.3 * HOUR_MS;
    await refuse();
    await expect.poll(clock).toMatch(/^FAULT {2}Clock: .* Set the clock right$/);
    expect(await world.logged('signature_refused')).toContain('set the clock right');
    await ask(world, '/deckhand whoami');
    await expect.poll(clock).toBeUndefined();
  });
});

describe('the service’s description in doctor', () => {
  test.override({ worldOptions: { env: BRISK.env, time } });

  test('is read once a day, and only a change of it is a fault', async ({ world }) => {
    const reads = () => world.service.requests.all.filter(({ path }) => path === '/docs.json').length;
    const check = () => ask(world, '/deckhand doctor', 'admin');
    const [first] = await Promise.all([check(), check()]);
    expect(first).toContain(
      ":white_check_mark: *API description*  agrees with Deckhand's calls, but leaves out 3 of them and 1 required field",
    );
    expect(first).toContain(`*The service also offers*  ${OFFERS}`);
    const member = await ask(world, '/deckhand doctor', 'member');
    expect(member).not.toContain('API description');
    await world.restart(async () => {});
    const body = { paths: { '/projects': { get: {} } } };
    const changed = world.service.faults.add({ path: '/docs.json', status: 200, body });
    expect(await check()).toContain(OFFERS);
    expect(reads()).toBe(1);

    passedMs += 24 * HOUR_MS;
    const later = await check();
    expect(later).toContain(':x: *API description*  GET /profile is no longer in the description.');
    expect(later).not.toContain('GET /activity is');
    expect(later).not.toContain('also offers');
    changed.remove();
    passedMs += 24 * HOUR_MS;
    expect(await check()).toContain(OFFERS);

    // A service that is away for a moment keeps its capabilities, and is asked again.
    passedMs += 24 * HOUR_MS;
    const away = world.service.faults.add({ path: '/docs.json', status: 500 });
    const unread = await check();
    expect(unread).toContain(
      ":information_source: *API description*  The service's description could not be read (500).",
    );
    expect(unread).toContain(OFFERS);
    away.remove();
    passedMs += HOUR_MS;
    expect(await check()).toContain(':white_check_mark: *API description*');

    passedMs += 24 * HOUR_MS;
    world.service.world.setDescription({ description: 'none' });
    const none = await check();
    expect(none).toContain(
      ":information_source: *API description*  The service's description could not be read (404).",
    );
    expect(none).not.toContain('also offers');
    expect(none).toContain('Nothing is broken');
  });

  test('is what `--check-service` compares with', async ({ world }) => {
    await ask(world, '/deckhand doctor', 'admin');
    const body = { paths: { '/projects': { get: {} } } };
    world.service.faults.add({ path: '/docs.json', status: 200, body });
    const { code, err } = await runDeckhand({
      args: ['--check-service'],
      env: { ...MIN_ENV, STORE_URL: world.config.STORE_URL, SERVICE_SIGNUP_URL: world.service.signupUrl },
    });
    expect(code).toBe(65);
    expect(err).toContain('GET /profile is no longer in the description.\n');
  });
});
