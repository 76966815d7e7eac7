import { code } from '../../core/mrkdwn.ts';
import { getProfile } from '../../service/profile.ts';
import { SCOPE_NAMES } from '../../slack/scopes.ts';
import { doctorMessage, type Finding } from '../../views/admin/doctor.ts';
import { type CommandContext, defineCommand } from '../command.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Checks the connection, permissions, scopes, scheduler and store',
  role: 'member',
  async run(_, context) {
    const findings = await Promise.all([
      checkStore(context),
      checkScheduler(context),
      checkSlack(context),
      checkChannel(context),
      ...(await checkAccounts(context)),
    ]);
    return { kind: 'private', message: doctorMessage(findings) };
  },
});

type Check = Promise<Finding>;

async function check(what: string, context: CommandContext, work: () => Promise<string>): Check {
  try {
    return { what, isWell: true, said: await work() };
  } catch (error) {
    const { workspace } = context;
    const explained = workspace.explain(error);
    workspace.log.warn({ event: 'doctor', reason: what, err: error }, 'a check failed');
    return { what, isWell: false, said: [explained.text, explained.next].filter(Boolean).join(' ') };
  }
}

function checkStore(context: CommandContext): Check {
  return check('Store', context, async () => {
    await context.workspace.health.store();
    return 'answers';
  });
}

function checkScheduler(context: CommandContext): Check {
  return check('Scheduler', context, async () => {
    await context.workspace.health.jobs();
    return 'runs';
  });
}

function checkSlack(context: CommandContext): Check {
  const { workspace } = context;
  return check('Slack', context, async () => {
    const answer = await workspace.slack.call('auth.test', (client) => client.auth.test());
    const granted = answer.response_metadata?.scopes;
    if (granted === undefined) return 'the token works';
    const missing = SCOPE_NAMES.filter((scope) => !granted.includes(scope));
    return missing.length === 0
      ? 'the token works and has every scope'
      : `the token works, but lacks ${missing.map((scope) => code(scope)).join(', ')}: install the app again`;
  });
}

/** Whether Deckhand may post here is known only after trying, and the channel's name is not worth a scope. */
function checkChannel(context: CommandContext): Check {
  const { caller, workspace } = context;
  return check('This channel', context, async () => {
    const bound = await workspace.channels.get(caller.channel);
    return bound.project === undefined
      ? 'is not bound to a project'
      : `is bound to ${code(bound.project.permalink)}`;
  });
}

async function checkAccounts(context: CommandContext): Promise<Check[]> {
  const { workspace } = context;
  const accounts = await workspace.accounts.list();
  if (accounts.length === 0) {
    const said = `none is connected; an admin can run ${code(`${workspace.config.SLACK_COMMAND} connect`)}`;
    return [Promise.resolve({ what: 'Accounts', isWell: false, said })];
  }
  return accounts.map((account) =>
    check(`Account ${code(account.name)}`, context, async () => {
      const profile = await workspace.accounts.use(account, (client) => getProfile(client));
      if (profile.account.suspended) return 'the key works, but the account is suspended';
      return 'the key works';
    }),
  );
}
