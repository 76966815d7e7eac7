import { z } from 'zod';
import { code } from '../../core/mrkdwn.ts';
import { removeSchedules } from '../../scheduler/schedules/lifecycle.ts';
import { WATCHES } from '../../scheduler/watches/schedule.ts';
import { type SetUp, setUpWatch } from '../../scheduler/watches/watch-service.ts';
import { say } from '../../views/blocks/message.ts';
import type { ScheduleChange } from '../../views/schedules/card.ts';
import { watchWords } from '../../views/watches/watch.ts';
import { SCHEDULES } from '../../workspace/account-keys.ts';
import type { Account } from '../../workspace/accounts.ts';
import type { Watch, WatchedProject } from '../../workspace/watches.ts';
import type { CommandContext } from '../command.ts';
import { defineCommand } from '../command.ts';
import { accountOf, channelOf, projectOf } from '../resolve-target.ts';
import { announce, cardOf, recordChange } from '../schedules/feature.ts';
import { WATCH_FEATURE } from './lifecycle.ts';
import { readWatchWords, type WatchWords } from './parse-watch-arguments.ts';

export const watch = defineCommand({
  name: 'watch',
  summary:
    'Posts what happens in a project or in all: all events, failures only, or changes between failing and passing',
  usage: '[project|all] [all|failures|transitions]',
  examples: ['watch storefront failures', 'watch all transitions'],
  role: 'operator',
  needsAccount: true,
  durable: true,
  positionals: ['words'],
  rest: true,
  args: z.object({ words: z.string().optional() }),
  async run({ words }, context) {
    const { caller, workspace } = context;
    const asked = readWatchWords(words?.split(' ') ?? []);
    const { kind, schedule } = await setUpWatch(workspace, {
      channel: channelOf(context),
      ...(await targetOf(asked, context)),
      mode: asked.mode ?? 'all',
      user: caller.user,
      requestId: caller.requestId,
    });
    if (kind === 'same') {
      const text = `:eyes: This channel has that watch already: ${code(schedule.id)}, ${watchWords(schedule.record)}.`;
      return { kind: 'private', message: say(text) };
    }
    try {
      const reply = await announce(context, schedule, cardOf(WATCH_FEATURE, schedule, DONE[kind], context));
      await recordChange(context, 'watch', schedule);
      return reply;
    } catch (error) {
      // Where Deckhand cannot post, there is nothing to watch for.
      if (kind === 'new') await removeSchedules(workspace, WATCHES, [schedule], caller.requestId);
      throw error;
    }
  },
});

const DONE: Readonly<Record<Exclude<SetUp['kind'], 'same'>, ScheduleChange['done']>> = {
  new: 'set up',
  changed: 'edited',
  resumed: 'resumed',
};

/** With the key that the feed will be read with. */
async function targetOf(
  words: WatchWords,
  context: CommandContext,
): Promise<{ account: Account; project: Watch['project'] }> {
  if (words.isAll) return { account: await accountOf(context, SCHEDULES), project: undefined };
  const { account, project } = await projectOf(context, words.project, SCHEDULES);
  return { account, project: watchedProject(project) };
}

/** What is kept of a project; foreign names may be long. */
export function watchedProject({ permalink, identifier, name }: WatchedProject): WatchedProject {
  return { permalink, identifier, name: name.slice(0, 200) };
}
