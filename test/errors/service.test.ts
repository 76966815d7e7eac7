import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enroll } from '../support/asking.ts';
import { BRISK, failing, hold, mend } from '../support/faults.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
  type TestWorldOptions,
} from '../support/test-world.ts';
import {
  editing,
  expectAnswer,
  nothing,
  type Row,
  sending,
  testing,
  typing,
  whoami,
  worldOfItsOwn,
} from './support.ts';

const WRONG_KEY = 'WrongKey'.repeat(5);
const LATER = '3600';
const A_DATE = new Date(Date.now() + 3_600_000).toUTCString();
const SIGNUP = '/api/v1/signup';
const BROKEN = { status: 200, body: { odd: true } };

const connecting =
  (change: object = {}) =>
  (world: TestWorld) =>
    sending(world, 'connect', 'connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY, ...change });

async function adding(world: TestWorld): Promise<string> {
  const ann = world.as('admin');
  await ann.command(CHANNEL, '/deckhand integration add storefront');
  await world.slack.until(() => ann.openView()?.content.callback_id === 'integration.add');
  const { id = '', hash } = ann.openView() ?? {};
  await ann.click({ viewId: id }, { actionId: 'hook_type', selected: 'cdn_cache' });
  await world.slack.until(() => ann.openView()?.hash !== hash);
  const values = {
    name: 'Cache',
    flags: ['send_on_failure'],
    'properties.zone_id': 'z1',
    'properties.path_prefix': '/',
  };
  const answer = await ann.submit('integration.add', values);
  return JSON.stringify(answer.errors ?? ann.openView()?.content.blocks);
}

const started = (status: number, body: object) =>
  failing({ method: 'POST', status, body }, 'projects/storefront/test_access');
const polled = (status: number, body: object) =>
  failing({ status, body }, 'projects/storefront/test_access/*');
const noList = failing({ status: 404, body: { error_code: 'record_not_found' } }, 'projects/*/servers');
const billing = ({ service }: TestWorld) =>
  service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
const restricted = { error_code: 'api_access_restricted', upgrade_url: 'https://example.com/plan' };
const adminOnly = { error: 'admin_required', message: 'No.', beta_url: 'https://example.com/beta' };
const unverified = { error_code: 'email_verification_required' };

/** DESIGN's table of errors, and spec 7. */
// biome-ignore format: a table, one row a case
const ROWS: readonly Row[] = [
  ['401, a new key', nothing, connecting({ api_key: WRONG_KEY }), '{"api_key":"The e-mail address, the key and the account do not match.', 'must be verified first'],
  ['401, a key that is cut off', nothing, connecting({ api_key: 'short' }), 'API keys have 40 characters, and this has 5.', 'Copy it again.'],
  ['401, an unverified account', ({ app, service }) => { service.world.updateUser({ account: ACCOUNT, email: EMAIL, verified: false }); return hold(app, 'unverified'); }, whoami, 'answers once its e-mail address is verified', 'Follow the link in the verification e-mail'],
  ['401, a key that worked', ({ service }) => service.world.revokeKey({ account: ACCOUNT, email: EMAIL }), whoami, 'was revoked or rotated, so the connection is broken', 'Connect again with `/deckhand connect acme`'],
  ['401 while a test is followed', polled(401, {}), testing, 'was revoked or rotated', '`/deckhand connect acme`'],
  ['403 api_access_restricted', ({ service }) => service.world.updateAccount({ account: ACCOUNT, apiAccess: false }), whoami, 'The plan of the account `acme` has no API access.', 'change the plan in the account’s billing settings'],
  ['403 api_access_restricted, with where to upgrade', failing({ status: 403, body: restricted }), whoami, 'has no API access', '"url":"https://example.com/plan"'],
  ['403 api_access_restricted, a new key', failing({ status: 403, body: restricted }), connecting(), '{"account":"The plan of the account acme has no API access.', 'change the plan'],
  ['403 admin_required', failing({ status: 403, body: adminOnly }), whoami, 'An administrator of the account must do this.', '"url":"https://example.com/beta"'],
  ['403 admin_required for the beta', (world) => { world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false }); failing({ status: 403, body: adminOnly }, 'beta/enrollments')(world); }, (world) => enroll(world), 'Only an administrator of the account `acme`', '"type":"users_select"'],
  ['403 email_verification_required', failing({ status: 403, body: unverified }), whoami, 'must be verified first', 'Follow the link in the verification e-mail'],
  ['403 email_verification_required, a new key', failing({ status: 403, body: unverified }), connecting(), 'must be verified first', 'Follow the link'],
  ['403, no permission', failing({ status: 403, body: {} }), whoami, 'lacks the permission', 'Ask an administrator of the account'],
  ['403, a suspended account', ({ service }) => service.world.suspendAccount({ account: ACCOUNT }), whoami, 'refused this for the account `acme`. The service says: The account is suspended.', 'Ask an administrator'],
  ['403 on invoices', nothing, typing('invoices'), 'refused the invoices of the account `acme`. The service says: Your user lacks the permission', '`/deckhand connect acme`'],
  ['403 while a test is followed', polled(403, {}), testing, 'lacks the permission', 'Ask an administrator'],
  ['404 on the account, a new key', nothing, connecting({ account: 'nowhere' }), '{"account":"There is no account named nowhere at the service.', 'Check the name'],
  ['404 of a service that answers for no account in JSON, a new key', failing({ status: 404, body: { error: 'Not Found' } }, 'projects'), connecting({}), 'did not find the list of projects of the account `acme`.', 'Check the account’s name'],
  ['404 on the account', failing({ status: 404, body: '<h1>Nobody lives here</h1>' }), whoami, 'There is no account named `acme` at the service.', 'Check the name'],
  ['no such project', nothing, typing('test nowhere'), 'There is no project or server `nowhere`.', '`/deckhand projects`'],
  ['a project that went away', started(404, { error_code: 'record_not_found' }), testing, 'There is no project `storefront` at `acme`.', '`/deckhand projects`'],
  ['a test run that went away', polled(404, { error_code: 'record_not_found' }), testing, 'There is no such test run in project `storefront` at `acme`.', '`/deckhand projects`'],
  ['no such server', noList, typing('server show web-9 storefront'), 'There is no server `web-9` in `storefront` at `acme`.', '`/deckhand projects`'],
  ['no such managed resource', nothing, typing('hosting show r-9'), 'There is no managed server `r-9` at `acme`.', '`/deckhand hosting list`'],
  ['no such build configuration', nothing, typing('build b-9 storefront'), 'There is no build configuration `b-9` in `storefront` at `acme`.', '`/deckhand projects`'],
  ['no such integration', nothing, editing, 'There is no integration `none-such` in `storefront` at `acme`.', '`/deckhand integration edit`'],
  ['an integration in a project that went away', failing({ method: 'POST', status: 404 }, 'projects/*/integrations'), adding, 'There is no project `storefront` at `acme`.', '`/deckhand projects`'],
  ['no such invoice', billing, typing('invoices 9'), 'There is no invoice `9` at `acme`.', '`/deckhand invoices`'],
  ['422 on a field of a form', failing({ method: 'POST', status: 422, body: { name: ['is <taken>'] } }, 'projects/*/integrations'), adding, '{"name":"is <taken>"}', ''],
  ['422 on a form as a whole', failing({ method: 'POST', status: 422, body: { base: ['Plan & limit'] } }, 'projects/*/integrations'), adding, 'Plan &amp; limit', ''],
  ['422 where there is no form', started(422, { base: ['No <servers>'] }), testing, 'The service did not accept this: No &lt;servers&gt;', 'Correct it and try again.'],
  ['another refusal', started(409, { error: 'Busy hands' }), testing, 'The service refused this: Busy hands. ', 'Try again later.'],
  ['402 as a test starts', started(402, {}), testing, 'The service refused this: no reason given.', 'Try again later.'],
  ['402 with an address of the service', started(402, { error: 'payment_required', message: 'Too small a plan.', upgrade_url: 'http://127.0.0.1/plan' }), testing, 'The service refused this: Too small a plan.', '<http://127.0.0.1/plan|Change the plan> of the account, then try again.'],
  ['402 with an address elsewhere', started(402, { upgrade_url: 'https://pay.evil.example/plan' }), testing, 'The service names `https://pay.evil.example/plan` to change the plan.', ''],
  ['418 of a read, without a reason', failing({ status: 418, body: {} }), typing('activity'), 'The service refused this: no reason given.', 'Try again later.'],
  ['422 of a read', failing({ status: 422, body: { range: ['is odd'] } }), typing('activity'), 'The service did not accept this: range is odd.', 'Try again later.'],
  ['408', failing({ status: 408 }), whoami, 'The service cannot be reached.', 'Try again in a minute.'],
  ['429 with Retry-After in seconds', failing({ status: 429, retryAfter: LATER }), whoami, 'The service is busy.', 'Try again <!date^'],
  ['429 with Retry-After of 75 seconds', failing({ status: 429, retryAfter: '75' }), whoami, 'The service is busy.', 'Try again in 7'],
  ['429 with Retry-After as a date', failing({ status: 429, retryAfter: A_DATE }), whoami, 'busy', `Try again <!date^${Date.parse(A_DATE) / 1000}^`],
  ['429 without Retry-After', failing({ status: 429 }), whoami, 'busy', 'Try again in a minute.'],
  ['503 with Retry-After in seconds', failing({ status: 503, retryAfter: LATER }), whoami, 'busy', 'Try again <!date^'],
  ['503 without Retry-After', failing({ status: 503 }), whoami, 'busy', 'Try again in a minute.'],
  ['503 in a form', failing({ status: 503, retryAfter: LATER }), connecting(), 'busy', 'Try again <!date^'],
  ['400 invalid_json', failing({ status: 400 }), whoami, 'The service answered unexpectedly.', 'ask whoever runs Deckhand', 'with a reference'],
  ['404 invalid_api_method', failing({ status: 404, body: { error_code: 'invalid_api_method', hint: 'No.' } }), whoami, 'answered unexpectedly', 'ask whoever runs Deckhand', 'with a reference'],
  ['500', failing({ status: 500 }), whoami, 'answered unexpectedly', 'ask whoever runs Deckhand', 'with a reference'],
  ['bad JSON', failing({ badJson: true }), whoami, 'answered unexpectedly', 'ask whoever runs Deckhand', 'with a reference'],
  ['an answer of another shape', failing(BROKEN), whoami, 'answered unexpectedly', 'ask whoever runs Deckhand', 'with a reference'],
  ['a redirect', failing({ status: 302, headers: { location: 'https://evil.example/' } }), whoami, 'answered unexpectedly', 'ask whoever runs Deckhand', 'with a reference'],
  ['an answer that is too large', failing({ status: 200, body: 'x'.repeat(6_000_000) }), whoami, 'more than Deckhand accepts', 'ask whoever runs Deckhand', 'with a reference'],
  ['500 that leaves open whether it was done', failing({ method: 'POST', status: 500 }, 'projects/*/integrations'), adding, 'the integration may or may not be set up', 'Check the project’s integrations', 'with a reference'],
  ['a dropped connection', failing({ drop: true }), whoami, 'The service cannot be reached.', 'Try again in a minute.'],
  ['a dropped connection as a test starts', failing({ method: 'POST', drop: true }), testing, 'cannot be reached', 'Try again in a minute.'],
];

describe('what the service does', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld(BRISK);
  });
  afterAll(() => world.stop());
  beforeEach(() => mend(world));

  it.each(ROWS)('%s: is told where it was caused, in one sentence with a next step', async (...row) => {
    const [, given, when, ...answer] = row;
    const others = world.slack.ephemerals(TEAM, PEOPLE.billing).length;
    const before = world.slack.messages(TEAM, CHANNEL).length;
    await given(world);
    expectAnswer(world, await when(world), answer);
    expect(world.slack.ephemerals(TEAM, PEOPLE.billing)).toHaveLength(others);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(before + (when === testing ? 1 : 0));
  });

  it('a key that is refused marks the connection broken until it works again', async () => {
    failing({ status: 401 })(world);
    await whoami(world);
    expect(await typing('accounts')(world)).toContain(':x: the key was revoked or rotated');
    // For every request: one that runs in the background would mark it broken again.
    world.service.faults.clear();
    await typing('projects')(world);
    expect(await typing('accounts')(world)).toContain(':white_check_mark: works');
  });

  it('a form that fills later shows there what went wrong', async () => {
    failing({ status: 500 }, 'profile')(world);
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand server add storefront');
    const shown = () => JSON.stringify(ann.openView() ?? {});
    await world.slack.until(() => shown().includes('answered unexpectedly'));
    expectAnswer(world, shown(), ['unexpectedly', 'ask whoever runs Deckhand', 'with a reference']);
    expect(shown()).toContain('"block_id":"subdomain"');
  });
});

describe('a service that cannot be reached', () => {
  const TOLD = ['The service cannot be reached.', 'Try again in a minute.'] as const;

  it.each<[string, TestWorldOptions, (world: TestWorld) => unknown]>([
    ['does not answer in time', { serviceTimeoutMs: 200 }, failing({ delayMs: 60_000 })],
    ['is not there', {}, ({ service }) => service.stop()],
    [
      'has no address',
      { env: { SERVICE_BASE_URL: 'https://{account}.service.invalid', POLL_INTERVAL_MS: '2500' } },
      nothing,
    ],
  ])('because it %s is called that', async (_, options, given) => {
    const world = await worldOfItsOwn(options);
    await given(world);
    expectAnswer(world, await whoami(world), TOLD);
  });
});

describe('what a sign-up meets', () => {
  const FORM = { email: 'new@example.org', password: 'correct horse', terms_accepted: ['true'] };
  const meeting =
    (fault: Omit<Parameters<TestWorld['service']['faults']['add']>[0], 'path'>) => (at: TestWorld) => {
      at.service.faults.add({ path: SIGNUP, ...fault });
    };
  const refusing = (status: number, ...errors: string[]) =>
    meeting({ status, body: { status: 'error', errors } });
  const banned = ({ service }: TestWorld) => service.world.banIp({ ip: '127.0.0.1' });
  const unnamed = { account: { subdomain: 'not a slug', name: 'North' }, api_key: 'k'.repeat(40) };

  it.each<[what: string, given: (world: TestWorld) => unknown, change: object, says: string, next: string]>([
    ['400', refusing(400, 'Email is not valid'), {}, '{"email":"', 'does not accept this e-mail address'],
    ['401', nothing, { email: EMAIL }, '{"password":"', 'with another password'],
    ['403, locked', refusing(403, 'Account locked'), {}, 'locked', 'Wait before you try again.'],
    ['403, disposable', nothing, { email: 'x@disposable.example' }, 'blocked the sign-up', 'on the web'],
    ['403, banned', banned, {}, 'blocked the sign-up', 'domain is a disposable one'],
    ['409, the name', nothing, { account_name: ACCOUNT }, '{"account_name":"', 'Choose another'],
    ['409, the e-mail', refusing(409, 'Email is in use'), {}, '{"email":"', 'connect it instead'],
    ['409 of neither', refusing(409), {}, 'Choose another name', 'connect it instead'],
    ['422, the password', nothing, { password: 'short' }, '{"password":"', 'too short'],
    [
      '422, the terms',
      refusing(422, 'Terms missing'),
      {},
      '{"terms_accepted":"',
      'Accept the service’s terms',
    ],
    ['422, the package', refusing(422, 'No such package'), {}, '{"package":"', 'has no such package'],
    ['422, two factors', refusing(422, 'Two-factor is on'), {}, 'must be created on the web', '"url":"http'],
    ['503', meeting({ status: 503, retryAfter: '120' }), {}, 'sign-ups are closed', 'Try again <!date^'],
    [
      'a lost answer',
      meeting({ drop: true, afterHandling: true }),
      {},
      'The account may have been created',
      'If a verification e-mail',
    ],
    ['a key that cannot be kept', meeting({ status: 201, body: unnamed }), {}, '', 'Do not sign up again'],
  ])('%s is told in the form, with what to do', async (_, given, change, says, next) => {
    const world = await worldOfItsOwn({});
    await given(world);
    const said = await sending(world, 'signup', 'signup', { ...FORM, ...change });
    expectAnswer(world, said, [says, next]);
    expect(world.service.requests.all.filter(({ path }) => path === SIGNUP)).toHaveLength(1);
  });
});
