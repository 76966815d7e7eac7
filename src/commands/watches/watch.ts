import { z } from 'zod';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import type { Watch, WatchedProject, WatchedServer } from '../../records/watches.ts';
import { setUpWatch } from '../../scheduler/watches/watch-service.ts';
import { say } from '../../views/blocks/message.ts';
import { watchWords } from '../../views/watches/watch.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { accountOf, channelOf, projectOf, serverOf } from '../resolve-target.ts';
import { announce, announceNew, cardOf, recordChange } from '../schedules/feature.ts';
import { WATCH_FEATURE } from './lifecycle.ts';
import { readHours, readWatchWords, type WatchWords } from './parse-watch-arguments.ts';

export const watch = defineCommand({
  name: 'watch',
  summary:
    'Posts what happens in a project or in all: all events, failures only, or changes between failing and passing',
  usage: '[project|all] [all|failures|transitions] [--server <server>] [--hours <from>-<to>]',
  examples: [
    'watch storefront failures',
    'watch all transitions',
    'watch storefront --server web-1',
    'watch storefront --hours 9-18',
  ],
  role: 'operator',
  needsAccount: true,
  isPosted: true,
  durable: true,
  rest: true,
  flags: ['server', 'hours'],
  args: z.object({
    words: z.string().optional(),
    server: z.string().optional(),
    hours: z.string().optional(),
  }),
  async run({ words, server, hours }, context) {
    const { caller, workspace } = context;
    const asked = readWatchWords(words?.split(' ') ?? []);
    const read = hours === undefined ? undefined : readHours(hours);
    const channel = channelOf(context);
    const { kind, schedule } = await setUpWatch(workspace, {
      channel,
      ...(await targetOf(asked, server, context)),
      hours: read && { ...read, zone: await zoneOf(workspace, caller.user) },
      mode: asked.mode ?? 'all',
      user: caller.user,
      requestId: caller.requestId,
    });
    if (kind === 'same') {
      const text = `:eyes: This channel has that watch already. ${watchWords(schedule.record)}.`;
      return { kind: 'private', message: say(text) };
    }
    if (kind === 'new') return announceNew(WATCH_FEATURE, context, schedule, 'watch');
    const done = kind === 'changed' ? 'edited' : kind;
    const reply = await announce(context, schedule, cardOf(WATCH_FEATURE, schedule, done, context));
    await recordChange(context, 'watch', schedule);
    return reply;
  },
});

/** With the key that the feed will be read with. */
async function targetOf(
  words: WatchWords,
  named: string | undefined,
  context: CommandContext,
): Promise<{ account: Account; project: Watch['project']; server: Watch['server'] }> {
  if (words.isAll) {
    const account = await accountOf(context, SCHEDULES);
    // The service lists servers by project; the name is looked for in every event.
    return { account, project: undefined, server: named === undefined ? undefined : watchedServer(named) };
  }
  const { account, project } = await projectOf(context, words.project, SCHEDULES);
  const server = named === undefined ? undefined : await serverOf(context, account, project.permalink, named);
  return { account, project: watchedProject(project), server: server && watchedServer(server) };
}

/** What is kept of a server; by name alone where it is one of any project. */
export function watchedServer(server: WatchedServer | string): WatchedServer {
  const { identifier, name } = typeof server === 'string' ? { identifier: server, name: server } : server;
  return { identifier: identifier.slice(0, 200), name: name.slice(0, 200) };
}

/** What is kept of a project; foreign names may be long. */
export function watchedProject({ permalink, identifier, name }: WatchedProject): WatchedProject {
  return { permalink, identifier, name: name.slice(0, 200) };
}
