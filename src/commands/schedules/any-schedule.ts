import { z } from 'zod';
import { UnmatchedWords, UserError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { code, unmarked } from '../../core/mrkdwn.ts';
import { isAsleep, type Schedule } from '../../records/schedules.ts';
import { listSetUp } from '../../scheduler/setup/show-channel-card.ts';
import { describeSchedule } from '../../views/schedules/words.ts';
import { type Command, defineCommand } from '../command.ts';
import { type CommandContext, expectChannel } from '../context.ts';
import { isNamedByProject } from './schedule-replies.ts';

type Verb = 'pause' | 'resume';

const Args = z.object({ nameOrId: z.string().optional() });

const WORDS = {
  pause: {
    synonyms: ['suspend', 'hold'],
    phrases: {
      'pause|suspend|hold|disable|stop|freeze everything|all|it|this|channel|posting|messages|bot|deckhand *':
        '$1',
      'stop|disable|off|halt|quit|enough|freeze': '',
      'turn|switch off it|this|everything|all|channel|posting|messages|bot|deckhand? *': '$1',
      'turn|switch it|this|everything|all|channel|posting|messages|bot|deckhand off *': '$1',
    },
    summary: 'Pauses a watch, guard or digest of this channel',
  },
  resume: {
    synonyms: ['unpause', 'continue'],
    phrases: {
      'resume|unpause|continue|enable|start everything|all|it|this|channel|posting|bot|deckhand *': '$1',
    },
    summary: 'Resumes a watch, guard or digest of this channel',
  },
};

/** `pause` and `resume` of whatever the channel has: several are offered in a menu. */
export const anyScheduleCommands: readonly Command[] = (['pause', 'resume'] as const).map((verb) =>
  defineCommand({
    ...WORDS[verb],
    name: verb,
    phrase: 'pauses what this channel hears',
    shownAs: 'pause',
    usage: '[id|project]',
    role: 'operator',
    durable: true,
    rest: true,
    args: Args,
    handle: ({ nameOrId }, context) => change(verb, nameOrId, context),
  }),
);

async function change(verb: Verb, nameOrId: string | undefined, context: CommandContext): Promise<Reply> {
  const { workspace } = context;
  const channel = expectChannel(context);
  const here = (await listSetUp(workspace, channel)).filter(({ kind }) => kind !== 'invoices');
  if (here.length === 0)
    throw new UserError(`Nothing is set up in this channel, so there is nothing to ${verb}.`, 'setup');
  const matches = here.filter((one) => nameOrId === undefined || isMeant(one, nameOrId));
  if (matches.length === 0)
    throw new UnmatchedWords(`This channel has no watch, guard or digest ${code(nameOrId, 40)}.`, 'start');
  const fitting = matches.filter((one) => isAsleep(one) === (verb === 'resume'));
  const [only, ...others] = fitting;
  if (only === undefined) throw new UserError(sayDone(verb), verb === 'pause' ? 'resume' : 'pause');
  if (others.length === 0) return { kind: 'command', text: `${only.kind} ${verb} ${only.id}`, others: [] };
  const choices = fitting.map((one) => ({ value: one.id, text: unmarked(describeSchedule(one)) }));
  throw new UserError(`Which one should be ${verb}d?`, undefined, { choices });
}

function isMeant(one: Schedule, nameOrId: string): boolean {
  return one.id.toLowerCase() === nameOrId.toLowerCase() || isNamedByProject(one, nameOrId);
}

function sayDone(verb: Verb): string {
  return verb === 'pause'
    ? 'Everything in this channel is paused already.'
    : 'Nothing in this channel is paused.';
}
