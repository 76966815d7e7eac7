import { AccountFailure } from '../../core/errors.ts';
import { describeUnreached } from '../../core/http.ts';
import { code, count, mrkdwn } from '../../core/mrkdwn.ts';
import { type Account, forInvoices, keyId } from '../../records/accounts.ts';
import type { AccountClient } from '../../service/client.ts';
import { listHostedResources } from '../../service/hosted-resources.ts';
import { listInvoices } from '../../service/invoices.ts';
import { getProfile, type Profile } from '../../service/profile.ts';
import { GROUPS_SCOPE, REQUIRED_SCOPES, SCOPE_NAMES, SCOPE_REASONS } from '../../slack/failure.ts';
import { doctorMessage, type Finding } from '../../views/admin/doctor.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { type CommandContext, defineCommand } from '../command.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Checks the connection, permissions, scopes, scheduler and store',
  role: 'member',
  async run(_, context) {
    const { health } = context.workspace;
    const findings = await Promise.all([
      check('Store', context, () => health.store().then(() => 'answers')),
      check('Scheduler', context, () => health.jobs().then(() => 'runs')),
      checkSlack(context),
      checkAppToken(context),
      checkAccounts(context),
      checkRecords(context),
      checkJobs(context).catch(() => []),
      checkDescription(context),
    ]);
    return { kind: 'private', message: doctorMessage(findings.flat()) };
  },
});

type Check = Promise<Finding>;

/** Text where all is well. */
type Said = string | { limited: string };

async function check(what: string, context: CommandContext, work: () => Promise<Said>): Check {
  try {
    const said = await work();
    return typeof said === 'string'
      ? { what, health: 'well', said }
      : { what, health: 'limited', said: said.limited };
  } catch (error) {
    const { workspace } = context;
    const explained = workspace.explain(error);
    workspace.log.warn({ event: 'doctor', reason: what, err: error }, 'a check failed');
    const why = describeUnreached(error);
    return { what, health: 'broken', said: `${failureWords(explained)}${why ? ` The reason: ${why}.` : ''}` };
  }
}

async function checkSlack(context: CommandContext): Promise<Finding[]> {
  const { slack, roles } = context.workspace;
  let granted: readonly string[] | undefined;
  const token = await check('Slack', context, async () => {
    granted = (await slack.call('auth.test', {})).response_metadata?.scopes;
    return 'the token works';
  });
  const wanted = [...SCOPE_NAMES, ...((await roles.lacksGroups()) ? [GROUPS_SCOPE] : [])];
  const missing = wanted.filter((scope) => granted !== undefined && !granted.includes(scope));
  return [token, ...missing.map(missingScope)];
}

function missingScope(scope: string): Finding {
  const health = REQUIRED_SCOPES.includes(scope) ? 'broken' : 'limited';
  const said = `is missing. It is for ${SCOPE_REASONS[scope]}. Install the app again to get it.`;
  return { what: `Scope ${code(scope)}`, health, said };
}

/** A refused bot token is found by trying it; the app token shows only in how Deckhand connects. */
function checkAppToken({ workspace }: CommandContext): Finding[] {
  const refused = workspace.health.refusedToken();
  if (refused?.variable !== 'SLACK_APP_TOKEN') return [];
  const said = `Slack refuses it: ${code(refused.reason)}. The operator must set ${code(refused.variable)} anew.`;
  return [{ what: 'App token', health: 'broken', said }];
}

async function checkRecords({ workspace }: CommandContext): Promise<Finding[]> {
  const records = await workspace.store.unreadable();
  return records.map(({ collection, id }) => unreadable(`Record ${code(id)} of ${code(collection)}`));
}

/** Jobs have no names that say something to people. */
async function checkJobs({ workspace }: CommandContext): Promise<Finding[]> {
  const jobs = Map.groupBy(await workspace.health.unreadableJobs(), ({ queue }) => queue);
  return [...jobs].map(([queue, { length }]) => unreadable(`${count(length, 'job')} of ${code(queue)}`));
}

function unreadable(what: string): Finding {
  const said = 'cannot be read; set up again what is missing, or ask your operator';
  return { what, health: 'broken', said };
}

/** Drift is the operator's matter, so only admins see it. */
async function checkDescription({ caller, workspace }: CommandContext): Promise<Finding[]> {
  if (!(await workspace.roles.holds(caller.user, 'admin'))) return [];
  const what = 'API description';
  const report = await workspace.service.checkDrift();
  if ('note' in report) return [{ what, health: 'well', said: report.note }];
  if (report.drift.length === 0) return [{ what, health: 'well', said: "agrees with Deckhand's calls" }];
  return report.drift.map((difference) => ({ what, health: 'broken', said: mrkdwn(difference, 300) }));
}

/** With the keys that act for the person who asks; of another person's own, `accounts` shows the health. */
async function checkAccounts(context: CommandContext): Promise<Finding[]> {
  const { caller, workspace } = context;
  const keys = await workspace.accounts.keys();
  const theirs = keys.filter(({ purpose, connectedBy }) => purpose !== 'mine' || connectedBy === caller.user);
  if (theirs.length === 0) {
    const said = `none is connected; an admin can run ${code(`${workspace.word} connect`)}`;
    return [{ what: 'Accounts', health: 'broken', said }];
  }
  const [acting, forInvoicesToo] = await Promise.all(
    [caller, forInvoices(caller)].map(async (requester) =>
      (await workspace.accounts.list(requester)).map(keyId),
    ),
  );
  const findings = await Promise.all(
    theirs.map((key) => {
      const id = keyId(key);
      const acts = acting?.includes(id) ?? false;
      return checkKey(context, key, { acts, readsInvoices: forInvoicesToo?.includes(id) ?? false });
    }),
  );
  return findings.flat();
}

/** The key, then what it may do for the person; nothing more is asked where the key itself is refused. */
async function checkKey(
  context: CommandContext,
  account: Account,
  { acts, readsInvoices }: { acts: boolean; readsInvoices: boolean },
): Promise<Finding[]> {
  const { workspace } = context;
  let profile: Profile | undefined;
  const key = await check(nameOf(account), context, async () => {
    profile = await workspace.accounts.use(account, (client) => getProfile(client));
    return profile.account.suspended ? 'the key works, but the account is suspended' : 'the key works';
  });
  if (profile === undefined) return [key];
  const isEnabled = profile.account.beta_features;
  const permissions = await Promise.all([
    ...(readsInvoices ? [checkPermission('Invoices', context, account, INVOICES)] : []),
    ...(acts ? [checkHosting(context, account, isEnabled)] : []),
  ]);
  return [key, ...permissions];
}

function nameOf({ name, purpose }: Account): string {
  if (purpose === 'shared') return `Account ${code(name)}`;
  return `${purpose === 'mine' ? 'Your own' : 'Billing'} key of ${code(name)}`;
}

const INVOICES: Permission = {
  ask: listInvoices,
  granted: 'the key may read them',
  refused: 'the key may not read them; only the key of a billing manager may',
};

function checkHosting(context: CommandContext, account: Account, isEnabled: boolean): Check {
  const enroll = code(`${context.workspace.word} beta enroll`);
  return checkPermission('Managed hosting', context, account, {
    ask: listHostedResources,
    granted: isEnabled ? 'the key may use it' : `is not enabled; ${enroll} enables it`,
    refused: 'the key may not use it; its owner needs that permission at the service',
    isLimited: !isEnabled,
  });
}

interface Permission {
  ask: (client: AccountClient) => Promise<unknown>;
  granted: string;
  refused: string;
  /** What is granted is of no use yet. */
  isLimited?: boolean;
}

/** Asks for something that only those with the permission may read. */
function checkPermission(
  name: string,
  context: CommandContext,
  account: Account,
  { ask, granted, refused, isLimited = false }: Permission,
): Check {
  return check(`${name} of ${code(account.name)}`, context, async () => {
    try {
      await context.workspace.accounts.use(account, ask);
      return isLimited ? { limited: granted } : granted;
    } catch (error) {
      if (error instanceof AccountFailure && error.cause.kind === 'forbidden') return { limited: refused };
      throw error;
    }
  });
}
