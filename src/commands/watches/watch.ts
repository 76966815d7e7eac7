import { z } from 'zod';
import { withTimeout } from '../../core/clock.ts';
import { isNamed } from '../../core/names.ts';
import { isSameOrNone } from '../../core/project-ref.ts';
import { WATCH_MODES } from '../../core/schedule-choices.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import type { PlacedWatch, Watch, WatchedServer } from '../../records/watches.ts';
import { withPolling } from '../../scheduler/schedules/polling.ts';
import { WATCH_FEED } from '../../scheduler/watches/feed.ts';
import { CHANNEL_WATCHES } from '../../scheduler/watches/schedule.ts';
import { editWatch, setUpWatch, type WatchChoices } from '../../scheduler/watches/watch-service.ts';
import { say } from '../../views/blocks/message.ts';
import { SCHEDULE_FACES } from '../../views/schedules/schedule.ts';
import {
  WATCH_EDIT,
  WatchOrigin,
  watchListMessage,
  watchModal,
  watchWords,
} from '../../views/watches/watch.ts';
import { findCurrentProject } from '../../workspace/projects.ts';
import { zoneOf } from '../../workspace/slack-people.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  type Command,
  type CommandContext,
  defineCommand,
  FormFault,
  fromForm,
  readFields,
  type Submitted,
  underField,
  type ViewState,
} from '../command.ts';
import {
  accountOf,
  channelOf,
  chosenProject,
  presentInForm,
  projectOf,
  serverOf,
} from '../resolve-target.ts';
import {
  announce,
  announceNew,
  cardOf,
  expectAllowedThere,
  expectChange,
  recordChange,
  resolveSchedule,
  type ScheduleFeature,
  showEdited,
} from '../schedules/feature.ts';
import { editCommand, removedSince, scheduleCommands } from '../schedules/lifecycle.ts';
import { readHours, readWatchWords, type WatchWords } from './parse-watch-arguments.ts';

/** Watches, as people meet them. */
const WATCH_FEATURE: ScheduleFeature<PlacedWatch> = {
  kind: CHANNEL_WATCHES,
  face: SCHEDULE_FACES.watch,
  words: watchWords,
  matches: ({ watch: { project } }, wanted) => project !== undefined && isNamed(project, wanted),
  async list(watches, listing, workspace) {
    const present = await Promise.all(watches.map((placed) => withPresentProject(workspace, placed)));
    return watchListMessage(await withPolling(workspace.store, WATCH_FEED.interval, present), listing);
  },
};

/** A list does not wait longer for the service. */
const LOOKUP_TIMEOUT_MS = 800;

/** The watch with the present name of its project, as far as the service says it in time. */
async function withPresentProject(
  { accounts, clock, projects }: Workspace,
  placed: PlacedWatch,
): Promise<PlacedWatch & { isGone?: boolean }> {
  const { watch } = placed;
  const account = await accounts.get(placed.account);
  if (watch.project === undefined || account === undefined) return placed;
  const looking = findCurrentProject(projects, account, watch.project);
  const project = await withTimeout(
    clock,
    LOOKUP_TIMEOUT_MS,
    looking.then((current) => current ?? 'gone'),
  );
  if (project === 'gone') return { ...placed, isGone: true };
  return project === undefined ? placed : { ...placed, watch: { ...watch, project } };
}

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
  ...editCommand(WATCH_FEATURE, async ({ workspace }, { id, record: { account, watch } }, from) => {
    const project = await presentInForm(workspace, account, watch.project);
    return watchModal({ id, account, from }, { ...watch, project });
  }),
  submissions: [{ callbackId: WATCH_EDIT, submit }],
});

async function submit(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { id, from } = fromForm(WatchOrigin, state.metadata);
  const schedule = await resolveSchedule(WATCH_FEATURE, context, id);
  await expectAllowedThere(WATCH_FEATURE, context, schedule, watchEdit.name);
  const choices = await choicesOf(context, schedule.record, readFields(Fields, state));
  expectChange(schedule.record.watch, choices);
  const edited = await editWatch(context.workspace, schedule, choices);
  if (edited === 'taken')
    throw new FormFault({ project: 'Another watch of this channel has this project and server.' });
  if (edited === undefined) throw removedSince(WATCH_FEATURE, schedule);
  await showEdited(WATCH_FEATURE, context, edited, from);
  await recordChange(context, 'watch edit', edited);
  return { kind: 'close' };
}

/** @throws FormFault */
async function choicesOf(
  context: CommandContext,
  { account: named, watch: before }: PlacedWatch,
  { mode, project: wanted, server: typed, hours }: z.infer<typeof Fields>,
): Promise<WatchChoices> {
  const { caller, workspace } = context;
  const account = await workspace.accounts.resolve(SCHEDULES, named);
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

const { list, pause, resume, remove } = scheduleCommands(WATCH_FEATURE);

export const watchCommands: readonly Command[] = [watch, watchEdit, list, pause, resume, remove];
