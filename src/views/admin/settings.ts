import type { Message, ModalView } from '../../core/message.ts';
import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { say } from '../blocks/message.ts';
import { type Choice, modal, searchInput, selectInput } from '../blocks/modal.ts';

export const SETTINGS = 'settings';

/** What a channel has set for itself, as the form shows it. */
export interface ShownSettings {
  account?: string | undefined;
  project?: { permalink: string; name: string } | undefined;
  threads?: boolean | undefined;
  layout?: 'full' | 'compact' | undefined;
  zone?: string | undefined;
}

const THREADS: readonly Choice[] = [
  { value: 'on', text: 'On: news goes to a thread' },
  { value: 'off', text: 'Off: one message is edited' },
];
const LAYOUTS: readonly Choice[] = [
  { value: 'full', text: 'Full: everything' },
  { value: 'compact', text: 'Compact: only what went wrong' },
];

/** `origin`: where the outcome is told, and whose projects the menu offers. */
export function settingsModal(
  origin: { channel: string; account?: string | undefined },
  { project, threads = true, layout = 'full', zone }: ShownSettings,
): ModalView {
  const isShort = project !== undefined && project.permalink.length <= LIMITS.optionValue;
  return modal({
    callbackId: SETTINGS,
    title: 'Channel settings',
    submit: 'Save',
    metadata: origin,
    blocks: [
      selectInput({
        field: 'threads',
        label: 'Threads',
        hint: 'How test runs are followed here.',
        choices: THREADS,
        initial: threads ? 'on' : 'off',
      }),
      selectInput({ field: 'layout', label: 'Layout', choices: LAYOUTS, initial: layout }),
      searchInput({
        field: 'project',
        label: 'Default project',
        hint: 'What commands here mean when they name none.',
        placeholder: 'Search the projects',
        optional: true,
        ...(isShort ? { initial: { value: project.permalink, text: project.name } } : {}),
      }),
      searchInput({
        field: 'zone',
        label: 'Time zone',
        hint: 'For what is shown to the whole channel. A time in a sentence is in each reader’s own zone anyway.',
        placeholder: 'Search, e.g. Lisbon',
        optional: true,
        ...(zone === undefined ? {} : { initial: { value: zone, text: zone.replaceAll('_', ' ') } }),
      }),
    ],
  });
}

export function settingsMessage({ project, threads = true, layout = 'full', zone }: ShownSettings): Message {
  const about =
    project === undefined ? 'no default project' : `${bold(project.name)} (${code(project.permalink)})`;
  const said = [
    `threads *${threads ? 'on' : 'off'}*`,
    `layout *${layout}*`,
    about,
    zone === undefined ? 'no time zone' : mrkdwn(zone),
  ];
  return say(`:gear: This channel’s settings: ${said.join(', ')}.`);
}
