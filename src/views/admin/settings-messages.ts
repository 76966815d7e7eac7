import type { Message, ModalView } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Channel } from '../../records/channels.ts';
import { type Choice, searchInput, selectInput } from '../blocks/inputs.ts';
import { say } from '../blocks/make-blocks.ts';
import { modal, refill, type Values } from '../blocks/modal.ts';
import { withOpened } from '../blocks/shared-form.ts';

export const SETTINGS = 'settings';

const THREADS: readonly Choice[] = [
  { value: 'on', text: 'On: updates go to a thread' },
  { value: 'off', text: 'Off: only one message is edited' },
];
const LAYOUTS: readonly Choice[] = [
  { value: 'compact', text: 'Compact: a reply for all that is reachable, one for each failure' },
  { value: 'full', text: 'Full: a reply for each item' },
];

const DIAGNOSES: readonly Choice[] = [
  { value: 'on', text: 'On: after a failed deployment its project is tested' },
  { value: 'off', text: 'Off: only people and guards test projects' },
];

/** The settings as the fields of the form have them. */
export function settingsValues({
  project,
  threads = true,
  layout = 'compact',
  diagnose = true,
  zone,
}: Channel): Values {
  return {
    threads: threads ? 'on' : 'off',
    layout,
    diagnose: diagnose ? 'on' : 'off',
    project: project?.permalink,
    zone,
  };
}

/**
 * `origin`: the channel of the settings, and the account whose projects the menu lists.
 * @param shownProject the project by its present name
 */
export function settingsModal(
  origin: { channel: string; account?: string | undefined },
  channel: Channel,
  shownProject: Channel['project'],
): ModalView {
  const { zone } = channel;
  const project = shownProject ?? channel.project;
  const stored = settingsValues(channel);
  const form = modal(SETTINGS, 'Channel settings', { submit: 'Save', metadata: origin }, [
    selectInput('threads', 'Threads', {
      hint: 'How test runs are shown here.',
      choices: THREADS,
    }),
    selectInput('layout', 'Layout', { choices: LAYOUTS }),
    selectInput('diagnose', 'Diagnose failures', {
      hint: 'The message of the failure says whether the project can be reached. At most one test an hour.',
      choices: DIAGNOSES,
    }),
    searchInput('project', 'Default project', {
      hint: 'For commands here that name no project.',
      placeholder: 'Search the projects',
      optional: true,
      initial: project && { value: project.permalink, text: project.name },
    }),
    searchInput('zone', 'Time zone', {
      hint: 'For dates shown to the whole channel. Times in sentences use each reader’s own zone.',
      placeholder: 'Search, e.g. Lisbon',
      optional: true,
      initial: zone === undefined ? undefined : { value: zone, text: zone.replaceAll('_', ' ') },
    }),
  ]);
  return withOpened(refill(form, { ...stored, project: undefined, zone: undefined }, []), stored);
}

export function settingsMessage(settings: Channel): Message {
  const { project, threads = true, layout = 'compact', diagnose = true, zone } = settings;
  const about = project ? `${bold(project.name)} (${code(project.permalink)})` : 'no default project';
  const when = zone === undefined ? 'no time zone' : mrkdwn(zone);
  const diagnosed = `failures are ${diagnose ? '' : 'not '}diagnosed`;
  const settingsWords = `threads *${threads ? 'on' : 'off'}*, layout *${layout}*, ${diagnosed}, ${about}, ${when}`;
  return say(`:gear: This channel’s settings: ${settingsWords}.`);
}
