import { AccountFailure } from '../../core/errors.ts';
import { describeUnreached } from '../../core/http.ts';
import { capitalised, code, count, duration, mrkdwn } from '../../core/mrkdwn.ts';
import { type Account, makeInvoiceUse, makeKeyId } from '../../records/accounts.ts';
import { INVOICES } from '../../scheduler/invoices/notices.ts';
import { readPolling } from '../../scheduler/schedules/polling.ts';
import { ACTIVITY } from '../../scheduler/watches/feed.ts';
import type { AccountClient } from '../../service/client.ts';
import { describeUnreadDescription, NO_DESCRIPTION_ADDRESS } from '../../service/description.ts';
import { listInvoices } from '../../service/invoices.ts';
import { describeGaps, findDrift, listCapabilities } from '../../service/operations.ts';
import { getProfile, type Profile } from '../../service/profile.ts';
import { listHostedResources } from '../../service/servers.ts';
import { GROUPS_SCOPE, REQUIRED_SCOPES, SCOPE_NAMES, SCOPE_REASONS } from '../../slack/scopes.ts';
import { doctorMessage, type Finding } from '../../views/admin/doctor-message.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { SCHEDULE_FACES } from '../../views/schedules/faces.ts';
import { pollingTrouble } from '../../views/schedules/schedule.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineCommand } from '../command.ts';
import { replyPrivately } from '../replies.ts';

export const doctor = defineCommand({
  name: 'doctor',
  phrase: 'checks that everything works',
  synonyms: ['health', 'ping', 'version', 'diagnostics', 'healthcheck'],
  phrases: {
    'about|diagnose|debug|selftest|alive|awake|working': '',
    'are|r you|u there|alive|up|working|ok|awake|broken|down|online|running|dead|still *': '',
    'is deckhand|this|it|bot on|working|up|down|ok|broken|alive|running|connected|installed|there *': '',
    'what|which version *': '',
    'version|status|health of|for? deckhand|you|bot *': '',
    'why is|are|does deckhand|you|it|bot not|slow|silent|quiet|down|broken *': '',
    'why do|does|did i|we|nothing|you not|get|hear|happen|nothing *': '',
    'check yourself|health|everything *': '',
    'self test|check *': '',
    'health check': '',
  },
  summary: 'Checks the connection, permissions, scopes, scheduler and store',
  role: 'member',
  async handle(_, { workspace, invocation: { user } }) {
    const checkScheduler = () => workspace.health.jobs().then(() => 'runs');
    return replyPrivately(doctorMessage(await examine({ workspace, user, checkScheduler })));
  },
});

interface Examination {
  workspace: Workspace;
  /** Undefined for the operator, who sees all keys. */
  user?: string | undefined;
  checkScheduler(): Promise<string>;
}

/** Runs all checks of a workspace. */
export async function examine(examination: Examination): Promise<Finding[]> {
  const { workspace, checkScheduler } = examination;
  const findings = await Promise.all([
    check('Store', examination, () => workspace.health.store().then(() => 'answers')),
    check('Scheduler', examination, checkScheduler),
    checkSlack(examination),
    reportAppToken(examination),
    reportLimits(examination),
    checkAccounts(examination),
    checkPolls(examination),
    checkPushes(examination),
    checkRecords(examination),
    checkJobs(examination).catch(() => []),
    checkDescription(examination),
  ]);
  return findings.flat();
}

/** @param work returns a text if all is well */
async function check(
  what: string,
  { workspace }: Examination,
  work: () => Promise<string | { limited: string }>,
): Promise<Finding> {
  try {
    const result = await work();
    return typeof result === 'string'
      ? { what, health: 'well', text: result }
      : { what, health: 'limited', text: result.limited };
  } catch (error) {
    const explained = workspace.explain(error);
    workspace.log.warn({ event: 'doctor', reason: what, err: error }, 'Doctor check failed');
    const why = describeUnreached(error);
    return { what, health: 'broken', text: `${failureWords(explained)}${why ? ` The reason: ${why}.` : ''}` };
  }
}

async function checkSlack(context: Examination): Promise<Finding[]> {
  const { slack, roles } = context.workspace;
  let granted: readonly string[] | undefined;
  const token = await check('Slack', context, async () => {
    granted = (await slack.call('auth.test', {})).response_metadata?.scopes;
    return 'the token works';
  });
  // Unreadable roles have their own line.
  const lacksGroups = await roles.lacksGroups().catch(() => false);
  const scopes = [...SCOPE_NAMES, ...(lacksGroups ? [GROUPS_SCOPE] : [])];
  const missing = scopes.filter((scope) => granted !== undefined && !granted.includes(scope));
  return [token, ...missing.map(describeMissing)];
}

function describeMissing(scope: string): Finding {
  const health = REQUIRED_SCOPES.includes(scope) ? 'broken' : 'limited';
  const text = `is missing. It is for ${SCOPE_REASONS[scope]}. Install the app again to get it.`;
  return { what: `Scope ${code(scope)}`, health, text };
}

/** A call to Slack tests the bot token. The app token is tested only when Deckhand connects. */
function reportAppToken({ workspace }: Examination): Finding[] {
  const refused = workspace.health.refusedToken();
  if (refused?.variable !== 'SLACK_APP_TOKEN') return [];
  const text = `Slack refuses it: ${code(refused.reason)}. Whoever runs Deckhand must set ${code(refused.variable)} again.`;
  return [{ what: 'App token', health: 'broken', text }];
}

/** Says which calls Slack has limited lately, because their messages come late. */
function reportLimits({ workspace }: Examination): Finding[] {
  const limits = workspace.slack.listLimits();
  if (limits.length === 0) return [];
  const now = workspace.clock.now();
  const methods = limits.map(({ method, at }) => `${code(method)} ${duration(now - at)} ago`);
  const text = `Slack limited ${methods.join(', ')}. Messages come late, and none is lost.`;
  return [{ what: 'Slack’s rate limits', health: 'limited', text }];
}

/** Finds accounts whose news do not come now, because the service is busy or does not answer. */
async function checkPolls({ workspace }: Examination): Promise<Finding[]> {
  const schedules = await workspace.schedules.all();
  const active = schedules.filter(({ state }) => state.kind === 'active');
  const findings: Finding[] = [];
  for (const source of [ACTIVITY, INVOICES]) {
    const followed = active.filter(({ kind }) => kind === source.kind);
    const readPace = await readPolling(workspace, source);
    for (const account of new Set(followed.map((one) => one.account ?? ''))) {
      const text = pollingTrouble(readPace(account));
      const what = `${capitalised(SCHEDULE_FACES[source.kind].plural)} of ${code(account)}`;
      if (text !== undefined) findings.push({ what, health: 'limited', text });
    }
  }
  return findings;
}

/** Finds calls of the service about deployments that do not arrive, or go to an old address. */
async function checkPushes({ workspace }: Examination): Promise<Finding[]> {
  const { config, pushes, word } = workspace;
  const on = (await pushes.list()).filter(({ state }) => state === 'on');
  const next = `${code(`${word} watch list`)} has “Hear within seconds”, which sets its integration up again`;
  const findings = on.map(({ account, project, isMissing, publicUrl }): Finding | undefined => {
    if (isMissing !== true && publicUrl === config.PUBLIC_URL) return undefined;
    const fault = isMissing
      ? 'do not arrive, so it is polled every minute'
      : 'go to an old address of Deckhand';
    const what = `Calls about ${code(project.permalink, 60)} in ${code(account)}`;
    return { what, health: 'limited', text: `${fault}. ${next}` };
  });
  return findings.filter((finding) => finding !== undefined);
}

async function checkRecords({ workspace }: Examination): Promise<Finding[]> {
  const records = await workspace.store.unreadable();
  return records.map(({ collection, id }) => describeUnreadable(`Record ${code(id)} of ${code(collection)}`));
}

/** Shows only numbers of jobs, because their names mean nothing to people. */
async function checkJobs({ workspace }: Examination): Promise<Finding[]> {
  const jobs = Map.groupBy(await workspace.health.unreadableJobs(), ({ queue }) => queue);
  return [...jobs].map(([queue, { length }]) =>
    describeUnreadable(`${count(length, 'job')} of ${code(queue)}`),
  );
}

function describeUnreadable(what: string): Finding {
  const text = 'cannot be read. Set up again what is missing, or ask whoever runs Deckhand';
  return { what, health: 'broken', text };
}

/** Only admins and the operator see whether the description agrees with Deckhand's calls. */
async function checkDescription({ user, workspace }: Examination): Promise<Finding[]> {
  const description = await workspace.health.description();
  const capabilities = description ? listCapabilities(description.described) : [];
  const offer: Finding = { what: 'The service also offers', health: 'well', text: capabilities.join(', ') };
  const offers = capabilities.length > 0 ? [offer] : [];
  if (user !== undefined && !(await workspace.roles.holds(user, 'admin'))) return offers;
  const what = 'API description';
  if (description === undefined) return [{ what, health: 'limited', text: NO_DESCRIPTION_ADDRESS }];
  if (description.fault !== undefined) {
    const text = describeUnreadDescription(mrkdwn(description.fault));
    return [{ what, health: 'limited', text }, ...offers];
  }
  const drift = findDrift(description.described, description.earlier);
  const changes = drift.changes.map((text): Finding => {
    return { what, health: 'broken', text: mrkdwn(text, 300) };
  });
  const agreement: Finding = {
    what,
    health: 'well',
    text: `agrees with Deckhand's calls${describeGaps(drift)}`,
  };
  return [...(changes.length > 0 ? changes : [agreement]), ...offers];
}

/** Checks the keys that this person uses. `accounts` shows the health of other people's own keys. */
async function checkAccounts(context: Examination): Promise<Finding[]> {
  const { user, workspace } = context;
  const keys = await workspace.accounts.keys();
  const usable = keys.filter(
    ({ purpose, createdBy }) => purpose !== 'mine' || createdBy === (user ?? createdBy),
  );
  if (usable.length === 0) {
    const text = `none is connected. An admin can run ${code(`${workspace.word} connect`)}`;
    return [{ what: 'Accounts', health: 'limited', text }];
  }
  const [acting, forInvoicesToo] = await Promise.all(
    [{ user }, makeInvoiceUse({ user })].map(async (keyUse) =>
      (await workspace.accounts.list(keyUse)).map(makeKeyId),
    ),
  );
  const findings = await Promise.all(
    usable.map((key) => {
      const id = makeKeyId(key);
      const acts = acting?.includes(id) ?? false;
      return checkKey(context, key, { acts, readsInvoices: forInvoicesToo?.includes(id) ?? false });
    }),
  );
  return findings.flat();
}

/** Checks the key, then its permissions if it works. */
async function checkKey(
  context: Examination,
  account: Account,
  { acts, readsInvoices }: { acts: boolean; readsInvoices: boolean },
): Promise<Finding[]> {
  const { workspace } = context;
  let profile: Profile | undefined;
  const key = await check(describeKey(account, context), context, async () => {
    profile = await workspace.accounts.use(account, (client) => getProfile(client));
    return profile.account.suspended
      ? { limited: 'the key works, but the account is suspended' }
      : 'the key works';
  });
  if (profile === undefined) return [key];
  const isEnabled = profile.account.beta_features;
  const enroll = code(`${workspace.word} beta enroll`);
  const hosting: Permission = {
    name: 'Managed hosting',
    read: listHostedResources,
    granted: isEnabled ? 'the key may use it' : { limited: `is not enabled. ${enroll} enables it` },
    refused: 'the key may not use it. Its owner needs that permission at the service',
  };
  const permissions = await Promise.all([
    ...(readsInvoices ? [checkPermission(context, account, INVOICE_LIST)] : []),
    ...(acts ? [checkPermission(context, account, hosting)] : []),
  ]);
  return [key, ...permissions];
}

function describeKey({ name, purpose, createdBy }: Account, { user }: Examination): string {
  if (purpose === 'shared') return `Account ${code(name)}`;
  const owner = user === undefined ? createdBy : 'Your own';
  return `${purpose === 'mine' ? owner : 'Billing'} key of ${code(name)}`;
}

interface Permission {
  name: string;
  read: (client: AccountClient) => Promise<unknown>;
  granted: string | { limited: string };
  refused: string;
}

const INVOICE_LIST: Permission = {
  name: 'Invoices',
  read: listInvoices,
  granted: 'the key may read them',
  refused: 'the key may not read them. Only the key of a billing manager may',
};

function checkPermission(
  context: Examination,
  account: Account,
  { name, read, granted, refused }: Permission,
): Promise<Finding> {
  return check(`${name} of ${code(account.name)}`, context, async () => {
    try {
      await context.workspace.accounts.use(account, read);
      return granted;
    } catch (error) {
      if (error instanceof AccountFailure && error.cause.kind === 'forbidden') return { limited: refused };
      throw error;
    }
  });
}
