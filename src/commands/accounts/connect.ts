import { z } from 'zod';
import { bold, code, count } from '../../core/mrkdwn.ts';
import type { Reply } from '../../core/reply.ts';
import { parseAccountName } from '../../service/addresses.ts';
import { ServiceError } from '../../service/errors.ts';
import { getProfile, type Profile } from '../../service/profile.ts';
import { listProjects } from '../../service/projects.ts';
import { maskedKey } from '../../views/accounts/accounts.ts';
import { CONNECT, connectModal } from '../../views/accounts/connect.ts';
import { type Explained, failureWords } from '../../views/blocks/failures.ts';
import { say } from '../../views/blocks/message.ts';
import type { CommandContext, Submitted, ViewState } from '../command.ts';
import { defineCommand } from '../command.ts';
import { messagesByField } from '../form-target.ts';

const Origin = z.object({
  channel: z.string().optional(),
  account: z.string().optional(),
  replay: z.string().optional(),
});
type Origin = z.infer<typeof Origin>;

const API_KEY_LENGTH = 40;

const Fields = z.object({
  account: z.string({ error: 'Give the account’s name.' }),
  email: z.string({ error: 'Give your login e-mail address.' }).trim(),
  api_key: z
    .string({ error: 'Give the API key.' })
    .trim()
    .regex(/^[\x21-\x7e]+$/, 'An API key has no spaces or special characters in it.'),
});

export const connect = defineCommand({
  name: 'connect',
  summary: 'Connects an account of the deployment service with your e-mail and API key',
  usage: '[account]',
  examples: ['connect', 'connect acme'],
  role: 'admin',
  positionals: ['account'],
  args: z.object({ account: z.string().optional() }),
  async run({ account }, { caller }) {
    return { kind: 'modal', view: connectModal({ channel: caller.channel, account }) };
  },
  actions: [
    {
      actionId: 'connect:open',
      role: 'admin',
      async run(value, { caller }) {
        const origin = Origin.parse(JSON.parse(value ?? '{}'));
        return { kind: 'modal', view: connectModal({ ...origin, channel: caller.channel }) };
      },
    },
  ],
  shortcuts: [
    {
      callbackId: 'connect_account',
      kind: 'global',
      name: 'Connect account',
      description: 'Connects an account of your deployment service',
      role: 'admin',
      run: async () => ({ kind: 'modal', view: connectModal({}) }),
    },
  ],
  submissions: [{ callbackId: CONNECT, role: 'admin', secrets: ['api_key'], submit: submitConnect }],
});

async function submitConnect(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { caller, workspace } = context;
  const origin = Origin.parse(JSON.parse(state.metadata || '{}'));
  const fields = Fields.safeParse(state.values);
  if (!fields.success) return { kind: 'errors', errors: messagesByField(fields.error) };
  const account = parseAccountName(fields.data.account, workspace.config.SERVICE_BASE_URL);
  if (account === undefined)
    return {
      kind: 'errors',
      errors: { account: 'That is not an account name: letters, digits and hyphens only.' },
    };
  const { email, api_key: apiKey } = fields.data;
  const tried = await tryKey(context, { account, email, apiKey });
  if ('errors' in tried) return { kind: 'errors', ...tried };
  await workspace.accounts.connect({
    name: account,
    email,
    apiKey,
    connectedBy: caller.user,
    state: 'ok',
  });
  const reply = connectedReply(workspace.config.SLACK_COMMAND, account, apiKey, tried);
  return { kind: 'close', after: () => withReplay(context, origin, reply), audit: { target: account } };
}

interface Tried {
  profile: Profile;
  projects: number;
}

/** Both basic calls, so that a key is stored only once it has worked. */
async function tryKey(
  { workspace, explain }: CommandContext,
  credentials: { account: string; email: string; apiKey: string },
): Promise<Tried | { errors: Record<string, string>; base?: string }> {
  try {
    const client = workspace.service.account(credentials);
    const [projects, profile] = await Promise.all([listProjects(client), getProfile(client)]);
    return { profile, projects: projects.length };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return faultOf(explain(error, { newAccount: credentials.account }), error, credentials.apiKey);
  }
}

function faultOf(
  explained: Explained,
  error: ServiceError,
  apiKey: string,
): { errors: Record<string, string>; base?: string } {
  const said = failureWords(explained);
  // Under a field there is no markup.
  const plainly = said.replaceAll('`', '');
  switch (error.kind) {
    case 'unauthorized':
      return { errors: { api_key: plainly + lengthHint(apiKey) } };
    case 'account_not_found':
    case 'api_access_restricted':
    case 'forbidden':
      return { errors: { account: plainly } };
    default:
      return { errors: {}, base: said };
  }
}

/** The spec gives keys 40 characters; the service decides, but a cut-off key is worth a hint. */
function lengthHint(apiKey: string): string {
  if (apiKey.length === API_KEY_LENGTH) return '';
  return ` An API key has ${API_KEY_LENGTH} characters, this one has ${apiKey.length}.`;
}

function connectedReply(word: string, account: string, apiKey: string, { profile, projects }: Tried): Reply {
  const said = `:white_check_mark: Connected ${bold(profile.account.name)} (${code(account)}) with the key ${code(maskedKey(apiKey.slice(-4)))}: ${count(projects, 'project')}. Next: ${code(`${word} test`)}.`;
  return { kind: 'private', message: say(said) };
}

/** The command typed before connecting runs after it, whichever way the person came to connect. */
async function withReplay(
  { caller, workspace }: CommandContext,
  origin: Origin,
  reply: Reply,
): Promise<Reply> {
  const waiting = await workspace.pending.take(caller.user);
  const text = origin.replay ?? waiting;
  return text === undefined ? reply : { kind: 'several', replies: [reply, { kind: 'run', text }] };
}
