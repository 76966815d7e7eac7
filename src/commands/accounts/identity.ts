import { z } from 'zod';
import type { Settings } from '../../config.ts';
import { AccountFailure, outdated, UserError } from '../../core/errors.ts';
import { defined } from '../../core/json.ts';
import type { Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { unwrapSlackText } from '../../core/names.ts';
import { type Account, makeInvoiceUse } from '../../records/accounts.ts';
import { makePersonKey } from '../../records/service-people.ts';
import { getActivity } from '../../service/activity.ts';
import { getProfile } from '../../service/profile.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import {
  claimsMessage,
  linkGoneMessage,
  linkLine,
  linkMessage,
  mentionWords,
  notLinkedMessage,
  profileMessage,
  unknownNameMessage,
  unlinkedMessage,
} from '../../views/accounts/identity-messages.ts';
import { menuTarget } from '../../views/blocks/inputs.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { makeLinkAddress } from '../../workspace/installations.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { listRoles } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

export const whoami = defineCommand({
  name: 'whoami',
  phrase: 'says who you are at the service',
  synonyms: ['who', 'profile', 'myself'],
  phrases: {
    'who am i *': '',
    'am i connected|linked|logged|signed *': '',
    'my|show account|profile|role|roles|permissions|user|name|rights|key *': '',
    'am i an|a|the|allowed|able *': '',
    'what may|can i|do do|run|use *': '',
    'what is|are my role|roles|permissions|name|account|rights *': '',
  },
  summary: 'Shows who you are, whose key acts for you, and what you may do here',
  role: 'member',
  target: 'account',
  async handle(_, { invocation, workspace }, { account }) {
    const { oauth } = workspace.service;
    const forInvoicesToo = await workspace.accounts.get(account.name, makeInvoiceUse(invocation));
    const [profile, roles, userLink] = await Promise.all([
      workspace.accounts.use(account, (client) => getProfile(client)),
      listRoles(workspace, invocation.user),
      oauth && workspace.links.get(invocation.user),
    ]);
    const billing = forInvoicesToo?.purpose === 'billing' ? forInvoicesToo : undefined;
    const line = oauth && linkLine(userLink, workspace.word);
    return replyPrivately(
      profileMessage({ user: invocation.user, profile, key: account, billing, roles, link: line }),
    );
  },
});

const ClaimButton = z.object({ account: z.string(), name: z.string(), isForAll: z.boolean().optional() });
const ReleaseButton = z.object({ account: z.string(), user: z.string(), at: z.number() });

export const me = defineCommand({
  name: 'me',
  phrase: 'says who you are at the service',
  synonyms: ['my name', 'call me'],
  phrases: {
    'my name is +': '$1',
    'i am called|named|known|also as? +': '$1',
    'change|set|edit|update|show my? name': '',
    'forget|remove|release me|my|name name? *': 'none',
  },
  summary:
    'Claims your name at the service, so that watches mention you when your deployments fail, or with `--all` always. Alone it shows your name',
  usage: '<name>|none [--all]',
  examples: ['me Kim Lee', 'me Kim Lee --all', 'me none'],
  role: 'member',
  target: 'account',
  durable: (words) => words.length > 0,
  rest: true,
  switches: ['all'],
  args: z.object({ name: z.string().optional(), all: z.literal(true).optional() }),
  async handle({ name: typed, all }, context, { account: key }) {
    const name = typed === undefined ? undefined : unwrapSlackText(typed);
    const { invocation, workspace } = context;
    const { name: account } = key;
    const isForAll = all === true;
    if (name?.toLowerCase() === 'none') {
      const wasThere = await workspace.names.release(account, invocation.user);
      const text = wasThere
        ? `Watches of ${code(account)} do not mention you any more.`
        : `You have no name in ${code(account)}.`;
      return replyPrivately(say(text), wasThere ? { target: account } : undefined);
    }
    const names = await listEventNames(context, key);
    const claims = await workspace.names.list(account);
    const own = claims.find(({ user }) => user === invocation.user);
    if (name === undefined && isForAll && own !== undefined)
      return claimName(context, { account, name: own.name, isForAll }, 'private');
    if (name === undefined) {
      // An admin sees everybody's.
      const isAdmin = await workspace.roles.holds(invocation.user, 'admin');
      const about = { account, user: invocation.user, word: workspace.word, names };
      return replyPrivately(claimsMessage(claims, about, isAdmin));
    }
    const isSame = (other: string): boolean => makePersonKey(other) === makePersonKey(name);
    // The claim itself refuses another person's name.
    const isTaken = claims.some((claim) => claim.user !== invocation.user && isSame(claim.name));
    if (isTaken || names.some(isSame)) return claimName(context, { account, name, isForAll }, 'private');
    return replyPrivately(unknownNameMessage({ account, name, isForAll }, names));
  },
  actions: [
    {
      actionId: 'me:name',
      durable: true,
      change: 'me',
      handle(name = '', context) {
        const account = menuTarget(context.blockId)?.account;
        if (account === undefined) throw outdated('menu');
        return claimName(context, { account, name }, 'replace');
      },
    },
    defineButton(ClaimButton, {
      actionId: 'me:claim',
      durable: true,
      change: 'me',
      handle: (claim, context) => claimName(context, claim, 'replace'),
    }),
    defineButton(ReleaseButton, {
      actionId: 'me:release',
      role: 'admin',
      durable: true,
      async handle({ account, user, at }, { workspace }) {
        const wasThere = await workspace.names.release(account, user, at);
        const text = wasThere
          ? `The name of <@${user}> at ${code(account)} is free again, and watches do not mention them any more.`
          : 'This name was released or changed already.';
        const audit = { what: 'me release', target: `${account}/${user}` };
        return replyInPlace(say(text), wasThere ? audit : undefined);
      },
    }),
  ],
});

/** @throws UserError if another person has the name */
async function claimName(
  { invocation, workspace }: CommandContext,
  { account, name, isForAll }: z.infer<typeof ClaimButton>,
  kind: 'private' | 'replace',
): Promise<Reply> {
  const { user } = invocation;
  await workspace.names.claim(account, user, name, { isForAll });
  const claim = (await workspace.names.list(account)).find((one) => one.user === user);
  const message = say(`:label: ${mentionWords(account, { name, isForAll: claim?.isForAll })}`);
  return { kind, message, audit: { what: 'me', target: account } };
}

/** People in the account's recent events, latest first. Empty if the service fails: a name can be claimed anyway. */
export async function listEventNames({ workspace }: CommandContext, account: Account): Promise<string[]> {
  try {
    const { events } = await workspace.accounts.use(account, (client) =>
      getActivity(client, { range: 'last_30_days' }),
    );
    return [...new Set(events.map(({ user }) => user ?? '').filter((name) => name !== ''))];
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    return [];
  }
}

/** True if the operator registered Deckhand as an OAuth client of the service. Its secret is required with the id. */
function isAvailable({ SERVICE_AUTH_URL, SERVICE_OAUTH_CLIENT_ID }: Settings): boolean {
  return SERVICE_AUTH_URL !== undefined && SERVICE_OAUTH_CLIENT_ID !== undefined;
}

export const link = defineCommand({
  name: 'link',
  phrase: 'says who you are at the service',
  summary: 'Links you to your own user at the deployment service, in your browser',
  role: 'member',
  isAvailable,
  async handle(_, { invocation, workspace }) {
    const { PUBLIC_URL } = workspace.config;
    if (PUBLIC_URL === undefined)
      throw new UserError(
        'Linking needs an address that your browser can come back to. Whoever runs Deckhand must set `PUBLIC_URL` to it, and register that address with the service.',
      );
    const { user } = invocation;
    const { slack } = workspace;
    const existing = await workspace.links.get(user);
    const [person, team] = await Promise.all([
      undefinedOnSlackError(slack.call('users.info', { user })),
      undefinedOnSlackError(slack.call('auth.test', {})),
    ]);
    const { real_name, name, profile } = person?.user ?? {};
    const scopes = team?.response_metadata?.scopes;
    const ticket = await workspace.links.ask({
      user,
      name: real_name || name || user,
      workspaceName: team?.team || workspace.id,
      ...defined({ email: profile?.email, lacksScope: scopes && !scopes.includes('users:read.email') }),
    });
    const url = makeLinkAddress(PUBLIC_URL, ticket);
    return replyPrivately(linkMessage(url, existing, workspace.word));
  },
  actions: [
    defineButton(z.object({ linkedAt: z.number() }), {
      actionId: 'link:undo',
      durable: true,
      // Removes the link of its message, and no later one.
      async handle({ linkedAt }, { invocation, workspace }) {
        const wasThere = await removeLink(workspace, invocation.user, linkedAt);
        const message = wasThere ? unlinkedMessage() : linkGoneMessage(workspace.word);
        return replyInPlace(message, wasThere ? { what: 'unlink' } : undefined);
      },
    }),
  ],
});

/** Deletes a link, with the names that it claimed. Returns false if it is gone. */
async function removeLink(
  { accounts, links, names }: Workspace,
  user: string,
  linkedAt?: number,
): Promise<boolean> {
  const link = await links.remove(user, linkedAt);
  if (link === undefined) return false;
  for (const { name } of await accounts.list()) await names.release(name, user, link.linkedAt);
  return true;
}

export const unlink = defineCommand({
  name: 'unlink',
  phrase: 'says who you are at the service',
  summary: 'Deletes your link to your user at the service',
  role: 'member',
  durable: true,
  isAvailable,
  async handle(_, { invocation, workspace }) {
    const wasThere = await removeLink(workspace, invocation.user);
    const message = wasThere ? unlinkedMessage() : notLinkedMessage(workspace.word);
    return replyPrivately(message, wasThere ? {} : undefined);
  },
});
