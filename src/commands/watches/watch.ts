import { z } from 'zod';
import { isSameOrNone } from '../../core/project-ref.ts';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import type { Watch, WatchedServer } from '../../records/schedules.ts';
import { editWatch, setUpWatch, type WatchChoices } from '../../scheduler/watches/watches.ts';
import { say } from '../../views/blocks/message.ts';
import { scheduleWords } from '../../views/schedules/words.ts';
import { WATCH_EDIT, WatchOrigin, watchModal } from '../../views/watches/watch.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import {
  type Command,
  type CommandContext,
  channelOf,
  defineCommand,
  FormFault,
  fromForm,
  readFields,
  type Submitted,
  underField,
  type ViewState,
} from '../command.ts';
import {
  announce,
  announceNew,
  changeCard,
  expectAllowedThere,
  expectChange,
  recordChange,
  resolveSchedule,
  showEdited,
} from '../schedules/changes.ts';
import { editCommand, removedSince, scheduleCommands } from '../schedules/lifecycle.ts';
import { accountOf } from '../targets/account.ts';
import { chosenProject, presentInForm, projectOf } from '../targets/project.ts';
import { serverOf } from '../targets/server.ts';
import { readHours, readWatchWords, type WatchWords } from './parse-watch-arguments.ts';

const watch = defineCommand({
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
    const { kind, watch: schedule } = await setUpWatch(workspace, {
      channel,
      ...(await targetOf(asked, server, context)),
      hours: read && { ...read, zone: await zoneOf(workspace, caller.user) },
      mode: asked.mode ?? 'all',
      user: caller.user,
      requestId: caller.requestId,
    });
    if (kind === 'same') {
      const text = `:eyes: This channel has that watch already. ${scheduleWords(schedule)}.`;
      return { kind: 'private', message: say(text) };
    }
    if (kind === 'new') return announceNew(context, schedule, 'watch');
    const done = kind === 'changed' ? 'edited' : kind;
    const reply = await announce(context, schedule, changeCard(schedule, done, context));
    await recordChange(context, 'watch', schedule);
    return reply;
  },
});

/** With the key that the feed will be read with. */
async function targetOf(
  words: WatchWords,
  named: string | undefined,
  context: CommandContext,
): Promise<{ account: Account } & Pick<Watch, 'project' | 'server'>> {
  if (words.isAll) {
    const account = await accountOf(context, SCHEDULES);
    // The service lists servers by project; the name is looked for in every event.
    return { account, project: undefined, server: named === undefined ? undefined : watchedServer(named) };
  }
  const { account, project } = await projectOf(context, words.project, SCHEDULES);
  const server = named === undefined ? undefined : await serverOf(context, account, project, named);
  return { account, project, server: server && watchedServer(server) };
}

/** What is kept of a server; by name alone where it is one of any project. */
function watchedServer(server: WatchedServer | string): WatchedServer {
  const { identifier, name } = typeof server === 'string' ? { identifier: server, name: server } : server;
  return { identifier: identifier.slice(0, 200), name: name.slice(0, 200) };
}

const Typed = z.string().trim().optional();
const Fields = z.object({
  mode: z.enum(WATCH_MODES, { error: 'Choose what it posts.' }),
  project: z.string().optional(),
  server: Typed,
  hours: Typed,
});

const watchEdit = defineCommand({
  ...editCommand('watch', async ({ workspace }, schedule, from) => {
    const { id, account } = schedule;
    const project = await presentInForm(workspace, account, schedule.project);
    return watchModal({ id, account, from }, { ...schedule, project });
  }),
  submissions: [{ callbackId: WATCH_EDIT, submit }],
});

async function submit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { id, from } = fromForm(WatchOrigin, state.metadata);
  const schedule = await resolveSchedule('watch', context, id);
  await expectAllowedThere(context, schedule, watchEdit.name);
  const choices = await choicesOf(context, schedule, readFields(Fields, state));
  expectChange(schedule, choices);
  const edited = await editWatch(context.workspace, schedule, choices);
  if (edited === 'taken')
    throw new FormFault({ project: 'Another watch of this channel has this project and server.' });
  if (edited === undefined) throw removedSince(schedule);
  await showEdited(context, edited, from);
  await recordChange(context, 'watch edit', edited);
  return { kind: 'close' };
}

/** @throws FormFault */
async function choicesOf(
  context: CommandContext,
  before: Watch,
  { mode, project: wanted, server: typed, hours }: z.infer<typeof Fields>,
): Promise<WatchChoices> {
  const { caller, workspace } = context;
  const account = await workspace.accounts.resolve(SCHEDULES, before.account);
  const project = wanted
    ? await underField('project', () => chosenProject(context, account, wanted))
    : undefined;
  // One that stands unchanged is not looked for again: it may be gone from the service.
  const isSame = isSameOrNone(project, before.project) && typed === before.server?.name;
  const server = async (): Promise<Watch['server']> => {
    if (isSame || !typed) return isSame ? before.server : undefined;
    if (project === undefined) return watchedServer(typed);
    const look = () => serverOf(context, account, project, typed);
    return watchedServer(await underField('server', look, 'The project has no such server.'));
  };
  const times = hours ? await underField('hours', () => readHours(hours)) : undefined;
  return {
    mode,
    project,
    server: await server(),
    // In the zone that they had, else in that of the person who gives them.
    hours: times && { ...times, zone: before.hours?.zone ?? (await zoneOf(workspace, caller.user)) },
  };
}

const { list, pause, resume, remove } = scheduleCommands('watch');

export const watchCommands: readonly Command[] = [watch, watchEdit, list, pause, resume, remove];
