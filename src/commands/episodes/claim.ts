import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { isNamed } from '../../core/names.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import type { ShownFailure } from '../../views/episodes/failing-message.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { isSmallWord } from '../readings.ts';
import { replyPrivately } from '../replies.ts';
import { drawFailing } from './failing.ts';
import { changeByPerson } from './owner-actions.ts';
import { readFailing } from './read-failing.ts';

export const claim = defineCommand({
  name: 'claim',
  phrase: 'says that you are on a failure',
  synonyms: ['ack', 'acknowledge', 'acked', 'own', 'on it', 'mine', 'got it'],
  phrases: {
    'i am on it|this|that now?': '',
    'i am on +': '$1',
    'i will|can take|look|handle|fix|check|own|do into|at? it|this|that|a? look? *': '$1',
    'i|we take|took|have|got|own|handle|fix it|this|that|over *': '',
    'taking|investigating|handling|fixing it|this|that? *': '$1',
    'looking|working|checking on|into|at|it|this it|this|that? *': '$1',
    'on it|this|that *': '',
    'take|own|claim|ack|acknowledge|grab it|this|that|failure|incident|all *': '',
    'take over *': 'over $1',
    'takeover *': 'over $1',
    'take|own|handle|grab|fix|claim +': '$1',
    'assign it|this|to|+ to? me': '',
    'ack|acknowledge|acking|claim failure|incident|alert of|for|on? *': '$1',
  },
  summary: 'Says that you are on the failure in this channel, as “I’m on it” does. `over` takes it over',
  usage: '[over] [project]',
  examples: ['claim', 'claim storefront', 'claim over'],
  role: 'member',
  durable: true,
  rest: true,
  args: z.object({ words: z.string().optional() }),
  handle: ({ words = '' }, context) => claimFailure(words, context),
});

/** Claims the only open failure that the words fit. Several are listed with their buttons. */
async function claimFailure(words: string, context: CommandContext): Promise<Reply> {
  const { invocation, workspace } = context;
  const { user, channel } = invocation;
  const isTakeOver = /^over(?: |$)/i.test(words);
  const typed = words.replace(/^over ?/i, '');
  const plain = typed.split(' ').filter((word) => !isSmallWord(word));
  const { failures } = await readFailing(workspace, user, channel);
  const exact = failures.filter((failure) => isMeant(failure, typed));
  const matches = exact.length > 0 ? exact : failures.filter((failure) => isMeant(failure, plain.join(' ')));
  const [only, ...others] = matches;
  if (only?.key === undefined || only.outage !== undefined || others.length > 0)
    return replyPrivately(await drawFailing(context));
  const { key, episode, subject } = only;
  if (episode.owner === user) return replyPrivately(say(`You are on ${bold(subject.name)} already.`));
  if (episode.owner !== undefined && !isTakeOver)
    throw new UserError(`<@${episode.owner}> is on ${bold(subject.name)}.`, `claim over ${subject.name}`);
  const { fault, audit } = await changeByPerson(
    'claim',
    { key, id: episode.id, owner: episode.owner },
    context,
  );
  if (fault !== undefined) throw new UserError(fault, 'failing');
  const back = code(`${workspace.word} failing`);
  return replyPrivately(say(`You are on ${bold(subject.name)}. ${back} hands it back.`), audit);
}

function isMeant({ key, subject }: ShownFailure, name: string): boolean {
  if (key === undefined) return false;
  const { project: identifier, permalink, name: known } = subject;
  return name === '' || isNamed({ name: known, identifier, permalink }, name);
}
