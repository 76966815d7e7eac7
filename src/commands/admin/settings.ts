import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { ModalView } from '../../core/message.ts';
import { ZoneName } from '../../core/time/zone.ts';
import type { Channel } from '../../records/channels.ts';
import {
  SETTINGS,
  settingsMessage,
  settingsModal,
  settingsValues,
} from '../../views/admin/settings-messages.ts';
import { type Merged, mergeSubmitted } from '../../views/blocks/shared-form.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { zonePicker } from '../option-sources.ts';
import { askAboutConflicts, findLastChanger } from '../save-unchanged.ts';
import { offerCard } from '../schedules/schedule-replies.ts';
import { closeWith, readFields, type Submitted, type ViewState } from '../submission.ts';
import { findProjectForForm, resolveAccount, resolveFormTarget } from '../targets/targets.ts';
import { parseForm } from '../values.ts';

const Origin = z.object({ channel: z.string(), account: z.string().optional() });

const Fields = z.object({
  threads: z.enum(['on', 'off'], { error: 'Choose one.' }),
  layout: z.enum(['full', 'compact'], { error: 'Choose one.' }),
  diagnose: z.enum(['on', 'off']).default('on'),
  project: z.string().optional(),
  zone: ZoneName.optional(),
});

export const settings = defineCommand({
  name: 'settings',
  phrase: 'sets this channel’s project and threads',
  synonyms: 'config configure configuration preferences prefs timezone threads layout zone tz'.split(' '),
  phrases: {
    'time|change|set|my|channel zone|timezone|tz|settings|threads|layout|preferences *': '',
    'set|change|edit|turn|switch|open|update timezone|time|zone|threads|thread|layout|settings|preferences|replies *':
      '',
    'timezone|time|zone|threads|layout +': '',
    'turn|switch off|on threads|diagnosis|diagnose|thread|replies': '',
    'channel settings|options|configuration': '',
    'what|which timezone|time|zone *': '',
  },
  summary: 'Sets this channel’s threads, layout, default project and time zone',
  role: 'operator',
  takesAccount: true,
  async handle(_, context) {
    const { invocation, workspace } = context;
    if (invocation.channel === undefined)
      throw new UserError('Run this in the channel that it should apply to.');
    const isConnected = (await workspace.accounts.list(invocation)).length > 0;
    const account = isConnected ? (await resolveAccount(context)).name : undefined;
    return { kind: 'modal', view: await drawSettings(context, { channel: invocation.channel, account }) };
  },
  submissions: [{ callbackId: SETTINGS, submit: submitSettings }],
  optionSources: [zonePicker],
});

async function drawSettings(
  { workspace }: CommandContext,
  { channel, account }: z.infer<typeof Origin>,
): Promise<ModalView> {
  const current = await workspace.channels.get(channel);
  const project = await findProjectForForm(workspace, current.account ?? account, current.project);
  return settingsModal({ channel, account }, current, project);
}

/** Saves only what the person changed: somebody else may have changed other settings since the form was opened. */
async function submitSettings(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { workspace } = context;
  const { channels } = workspace;
  const origin = parseForm(Origin, state.metadata);
  const { threads, layout, diagnose, project: chosen, zone } = readFields(Fields, state);
  const merge = (current: Channel): Merged => mergeSubmitted(state, settingsValues(current));
  let merged = merge(await channels.get(origin.channel));
  const bound = merged.mine.has('project') ? await findBinding(context, origin.account, chosen) : {};
  const saved = await channels.change(origin.channel, (current) => {
    merged = merge(current);
    const { mine, conflicts } = merged;
    if (conflicts.length > 0) return current;
    const { project: _, account: __, ...unbound } = current;
    return {
      ...(mine.has('project') ? { ...unbound, ...bound } : current),
      ...(mine.has('threads') && { threads: threads === 'on' }),
      ...(mine.has('layout') && { layout }),
      // On by default.
      ...(mine.has('diagnose') && { diagnose: diagnose === 'off' ? false : undefined }),
      ...(mine.has('zone') && { zone }),
    };
  });
  if (merged.conflicts.length > 0) {
    const changedBy = await findLastChanger(workspace, { commands: CHANGING, where: origin.channel });
    return askAboutConflicts(await drawSettings(context, origin), state, merged, changedBy);
  }
  return closeWith(await offerCard(context, settingsMessage(saved)), {
    where: origin.channel,
    target: describeSettings(saved),
  });
}

/** Commands that change a channel's settings. */
const CHANGING = ['settings', 'use'];

/** Settings for the audit log, e.g. "threads on, layout full, diagnosis on, acme/storefront". */
function describeSettings({
  threads = true,
  layout = 'compact',
  diagnose = true,
  account,
  project,
}: Channel): string {
  const words = [
    `threads ${threads ? 'on' : 'off'}`,
    `layout ${layout}`,
    `diagnosis ${diagnose ? 'on' : 'off'}`,
  ];
  return [...words, ...(project === undefined ? [] : [`${account}/${project.permalink}`])].join(', ');
}

async function findBinding(
  context: CommandContext,
  account: string | undefined,
  chosen: string | undefined,
): Promise<Pick<Channel, 'account' | 'project'>> {
  if (chosen === undefined) return {};
  const target = await resolveFormTarget(context, { account }, chosen);
  return { account: target.account.name, project: target.project };
}
