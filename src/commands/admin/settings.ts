import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { ZoneName } from '../../core/time/zone.ts';
import type { Channel } from '../../records/channels.ts';
import { SETTINGS, settingsMessage, settingsModal } from '../../views/admin/settings.ts';
import {
  type CommandContext,
  closeWith,
  defineCommand,
  parseForm,
  readFields,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { zonePicker } from '../option-sources.ts';
import { findProjectForForm, resolveAccount, resolveFormTarget } from '../targets/targets.ts';

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
  synonyms: ['config', 'configure'],
  summary: 'Sets this channel’s threads, layout, default project and time zone',
  role: 'operator',
  takesAccount: true,
  async run(_, context) {
    const { invocation, workspace } = context;
    if (invocation.channel === undefined)
      throw new UserError('Run this in the channel that it should apply to.');
    const current = await workspace.channels.get(invocation.channel);
    const isConnected = (await workspace.accounts.list(invocation)).length > 0;
    const account = isConnected ? (await resolveAccount(context)).name : undefined;
    const project = await findProjectForForm(workspace, current.account ?? account, current.project);
    const settings = { ...current, ...(project && { project }) };
    return { kind: 'modal', view: settingsModal({ channel: invocation.channel, account }, settings) };
  },
  submissions: [{ callbackId: SETTINGS, submit: submitSettings }],
  optionSources: [zonePicker],
});

async function submitSettings(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { workspace } = context;
  const origin = parseForm(Origin, state.metadata);
  const { threads, layout, diagnose, project: chosen, zone } = readFields(Fields, state);
  const current = await workspace.channels.get(origin.channel);
  const bound = await findBinding(context, origin.account, current, chosen);
  const saved = await workspace.channels.change(origin.channel, ({ project: _, account: __, ...rest }) => ({
    ...rest,
    ...bound,
    threads: threads === 'on',
    layout,
    // On by default.
    diagnose: diagnose === 'off' ? false : undefined,
    zone,
  }));
  return closeWith(settingsMessage(saved), { where: origin.channel, target: describeSettings(saved) });
}

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

/** The channel's new project. An unchanged one is not looked up, so that the form works without the service. */
async function findBinding(
  context: CommandContext,
  accountName: string | undefined,
  { account, project }: Channel,
  chosen: string | undefined,
): Promise<Pick<Channel, 'account' | 'project'>> {
  if (chosen === undefined) return {};
  if (project?.permalink === chosen && (accountName === undefined || accountName === account))
    return { account, project };
  const target = await resolveFormTarget(context, { account: accountName }, chosen);
  return { account: target.account.name, project: target.project };
}
