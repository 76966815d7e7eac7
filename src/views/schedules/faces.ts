import { capitalised, code } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Schedule, ScheduleKind, ScheduleOf } from '../../records/schedules.ts';
import { rangeWords } from '../activity/activity-message.ts';
import { projectLink } from '../blocks/page-links.ts';
import {
  cadenceWords,
  escalationSentence,
  escalationWords,
  filterWords,
  MODE_WORDS,
  patternWords,
  WATCH_STARTS,
} from './details.ts';

/** The words and buttons for a kind of schedule. */
export interface ScheduleFace<S extends Schedule = Schedule> {
  kind: ScheduleKind;
  /** The role that may create and change it. */
  role: 'operator' | 'billing';
  icon: string;
  title: string;
  /** The command that creates it. If a channel switches the command off, no schedule of the kind posts there. */
  command: string;
  noun: string;
  plural: string;
  /** Its commands, without the slash word. */
  commands: { add: string; list: string; remove: string };
  /** Consequence of a removal, for the confirmation. */
  confirm: string;
  /** The line of its commands in the overview of help. */
  phrase: string;
  /** Other words for its list and its removal; `alone` means the list if nothing follows. */
  synonyms: { list?: readonly string[]; alone?: string; remove?: readonly string[] };
  /** Additional buttons of this kind: labels by verb. */
  extras: Readonly<Record<string, string>>;
  /** Words for one schedule, in usage lines. */
  names: readonly string[];
  /** Facts that the list shows of each schedule. */
  listed: string;
  /** Its project, account or text; mrkdwn. @param pages for a link */
  describeSubject(schedule: S, pages?: Pages): string;
  /** Its posts and times: "this week, every Monday at 09:00, Europe/Lisbon"; mrkdwn. */
  describeDetails(schedule: S): string;
  /** The whole of it, with its article; mrkdwn. Default: noun, subject and details. */
  describe?(schedule: S): string;
  /** The name that people know it by. Default: its id. */
  name?(schedule: S): string;
  /** The command that resumes it, without the slash word. Default: `<kind> resume`. */
  resume?(schedule: S): string;
  /** Sentences about a new one; mrkdwn. Default: its name alone. */
  describeStart?(schedule: S, pages?: Pages): string;
}

export const SCHEDULE_FACES = {
  digest: {
    ...createFace('digest', 'digests', 'It will no longer be posted.'),
    names: ['id'],
    icon: ':calendar:',
    extras: { edit: 'Edit', preview: 'Preview' },
    listed: 'their next time and latest result, and who set them up',
    phrase: 'posts a summary on a schedule',
    synonyms: {
      list: ['digest show', 'digests'],
      alone: 'digest',
      remove: ['digest delete', 'digest stop'],
    },
    describeSubject: ({ account, project }, pages) => {
      const accounts = account === undefined ? 'every connected account' : code(account);
      return project === undefined
        ? accounts
        : `${projectLink(pages, account ?? '', project, 60)} in ${accounts}`;
    },
    describeDetails(digest) {
      const quiet = digest.skipQuiet ? ', skipped if nothing was deployed' : '';
      return `${rangeWords(digest.range).name}, ${cadenceWords(digest)}${quiet}`;
    },
  },
  guard: {
    ...createFace('guard', 'guards', 'The project will no longer be tested on a schedule.'),
    icon: ':shield:',
    listed: 'their next run and latest result',
    phrase: 'tests on a schedule, silent while all works',
    synonyms: { list: ['guard show', 'guards'], alone: 'guard', remove: ['guard delete', 'guard stop'] },
    describeSubject: ({ account, project }, pages) =>
      `${projectLink(pages, account, project, 60)} in ${code(account)}`,
    describeDetails: (guard) => `${cadenceWords(guard)}${escalationWords(guard)}`,
    name: ({ project }) => project.name,
    describeStart: (guard, pages) =>
      `${projectLink(pages, guard.account, guard.project)} in ${code(guard.account)} is checked ${cadenceWords(guard)}. You hear only if something is unreachable.${escalationSentence(guard)}`,
  },
  watch: {
    ...createFace('watch', 'watches', 'Its events will no longer be posted here.'),
    command: 'watch',
    icon: ':eyes:',
    commands: { add: 'watch all failures', list: 'watch list', remove: 'unwatch' },
    listed: 'their latest events, and who set them up',
    phrase: 'posts deployments as they happen',
    synonyms: {
      list: ['subscriptions', 'watches'],
      remove: ['unsubscribe', 'watch delete', 'watch remove', 'watch stop'],
    },
    describeSubject({ account, project, pattern, person }, pages) {
      if (project !== undefined) return `${projectLink(pages, account, project, 60)} in ${code(account)}`;
      if (pattern !== undefined) return `${patternWords(pattern)} in ${code(account)}`;
      return `${person === undefined ? 'all projects' : 'your own deployments'} in ${code(account)}`;
    },
    describeDetails: (watch) => `${MODE_WORDS[watch.mode]}${filterWords(watch)}${escalationWords(watch)}`,
    resume: ({ person, account }) =>
      person === undefined ? 'watch resume' : `watch mine --account ${account}`,
    describeStart(watch, pages) {
      const { account, project, pattern, mode } = watch;
      const any = pattern === undefined ? 'any project' : patternWords(pattern);
      const what = project === undefined ? any : projectLink(pages, account, project, 60);
      const start = WATCH_STARTS[mode].replace('%', () => `${what} in ${code(account)}`);
      return `This channel now hears when ${start}${filterWords(watch)}.${escalationSentence(watch)}`;
    },
  },
  invoices: {
    kind: 'invoices',
    role: 'billing',
    icon: ':receipt:',
    title: 'Invoice notices',
    command: 'invoices notify',
    noun: 'invoice notices',
    plural: 'invoice notices',
    commands: { add: 'invoices notify here', list: 'invoices notify', remove: 'invoices notify off' },
    confirm: 'Invoices will no longer be posted here.',
    names: ['id'],
    extras: {},
    listed: '',
    phrase: 'lists invoices, sends PDFs, posts new ones',
    synonyms: {},
    describeSubject: ({ account }) => code(account),
    describeDetails: () => 'new, paid, and unpaid after 7 and 14 days',
    describe: ({ account }) => `the invoice notices of ${code(account)}`,
    name: ({ account }) => account,
    resume: ({ account }) => `invoices notify here --account ${account}`,
    describeStart: ({ account }) =>
      `This channel now hears of new and paid invoices of ${code(account)}, and of those unpaid after 7 and 14 days.`,
  },
} as const satisfies { [K in ScheduleKind]: ScheduleFace<ScheduleOf<K>> };

/** The face of a kind that is known only at run time. */
export function readFace(kind: ScheduleKind): ScheduleFace {
  return SCHEDULE_FACES[kind];
}

function createFace<K extends ScheduleKind>(kind: K, plural: string, confirm: string) {
  const commands = { add: `${kind} add`, list: `${kind} list`, remove: `${kind} remove` };
  return {
    kind,
    role: 'operator' as const,
    title: capitalised(kind),
    command: commands.add,
    noun: kind,
    plural,
    commands,
    confirm,
    names: ['id', 'project'],
    extras: { edit: 'Edit' },
  };
}
