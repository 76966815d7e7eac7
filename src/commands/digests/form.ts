import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { truncate, unmarked } from '../../core/mrkdwn.ts';
import { isZone, parseZone } from '../../jobs/zone.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import { Cadence, nextTimes } from '../../records/digests.ts';
import type { DigestChoices } from '../../scheduler/digests/schedule.ts';
import { isServed } from '../../scheduler/schedules/reconcile-schedules.ts';
import { ACTIVITY_RANGES } from '../../service/activity.ts';
import { messagesByField, type Values } from '../../views/blocks/modal.ts';
import { type DigestForm, DigestOrigin, digestModal } from '../../views/digests/form.ts';
import { findProject } from '../../workspace/projects.ts';
import { fromForm, redraw } from '../carried.ts';
import type { Action, CommandContext, ViewState } from '../command.ts';
import { isEverything } from '../resolve-target.ts';
import { faultOf, readTime } from './parse-digest-arguments.ts';

/** The digest's form: drawn anew with each choice, to show the next times, and read when it is sent. */

const SHOWN_TIMES = 3;

const Fields = z.object({
  cadence: z.string({ error: 'Choose how often.' }),
  time: z.string().optional(),
  cron: z.string().optional(),
  zone: z
    .string({ error: 'Choose a time zone.' })
    .refine(isZone, { error: 'Unknown time zone. Give its IANA name, e.g. Europe/Lisbon.' }),
  range: z.enum(ACTIVITY_RANGES, { error: 'Choose what it covers.' }),
  account: z.string().optional(),
  project: z.string().optional(),
  skip_quiet: z.array(z.string()).optional(),
});

/** Account and project as they were named. */
export type FilledDigest = Omit<DigestChoices, 'project'> & { project: string | undefined };

/** What was filled in, or what is wrong by field. */
export function readDigestForm(
  values: Values,
  now: number,
): { filled: FilledDigest } | { errors: Record<string, string> } {
  const fields = Fields.safeParse(values);
  const timed = readWhen(values);
  const errors = {
    ...(fields.success ? {} : messagesByField(fields.error)),
    ...('errors' in timed ? timed.errors : {}),
  };
  if (!fields.success || 'errors' in timed) return { errors };
  const { zone, range, account, project, skip_quiet: quiet = [] } = fields.data;
  const { cadence } = timed;
  const fault = faultOf(cadence, zone, now);
  if (fault !== undefined) return { errors: { cron: fault.replaceAll('`', '') } };
  return { filled: { cadence, zone, range, account, project, skipQuiet: quiet.includes('skip_quiet') } };
}

function readWhen(values: Values): { cadence: Cadence } | { errors: Record<string, string> } {
  const { cadence = '', time, cron } = values;
  if (cadence === 'cron') {
    if (typeof cron !== 'string') return { errors: { cron: 'Give five cron fields, e.g. 0 9 * * 1-5.' } };
    return { cadence: { kind: 'cron', cron: cron.trim().replaceAll(/\s+/g, ' ') } };
  }
  const [kind, day] = String(cadence).split(':');
  try {
    const parsed = Cadence.safeParse({
      kind,
      day,
      time: readTime(typeof time === 'string' ? time : undefined),
    });
    return parsed.success ? { cadence: parsed.data } : { errors: { cadence: 'Choose how often.' } };
  } catch (error) {
    if (error instanceof UserError) return { errors: { time: unmarked(error.message) } };
    throw error;
  }
}

/** The form's next times for what is chosen so far, or what is still wrong. */
export function nextInForm(values: Values, now: number): DigestForm['next'] {
  const timed = readWhen(values);
  if ('errors' in timed) return Object.values(timed.errors)[0] ?? '';
  const { zone } = values;
  if (typeof zone !== 'string' || !isZone(zone)) return 'Choose a time zone.';
  const fault = faultOf(timed.cadence, zone, now)?.replaceAll('`', '');
  return fault ?? nextTimes(timed.cadence, zone, now, SHOWN_TIMES);
}

/** Choosing when, or whose, draws the form anew. @param view the form's `callback_id` */
export function digestFormActions(view: string): Action[] {
  return ['cadence', 'time', 'cron', 'zone', 'account'].map((actionId) => ({
    actionId,
    view,
    role: 'operator',
    run: redraw(async (state, { workspace }, value) => {
      const values = { ...state.values, [actionId]: value ?? state.values[actionId] };
      const account = typeof values.account === 'string' ? values.account : undefined;
      const next = nextInForm(values, workspace.clock.now());
      return digestModal({ origin: { ...originOf(state), account }, values, next });
    }),
  }));
}

/**
 * The form's or the words' choices, checked against what is connected.
 * @throws UserError where there is no such account or project, or none that works
 */
export async function choicesOf({ workspace }: CommandContext, asked: FilledDigest): Promise<DigestChoices> {
  const { account: named, cadence, range, skipQuiet } = asked;
  const wanted = asked.project === undefined || isEverything(asked.project) ? undefined : asked.project;
  const account = await workspace.accounts.resolve(SCHEDULES, named);
  const kept = named === undefined && wanted === undefined ? {} : { account: account.name };
  const accounts = await workspace.accounts.list();
  if (!isServed({ account: kept.account }, accounts))
    throw new UserError('This digest has no working account.', `connect ${account.name}`);
  const choices = { cadence, zone: parseZone(asked.zone), range, skipQuiet, ...kept };
  if (wanted === undefined) return choices;
  const project = findProject(await workspace.projects.look(account), wanted);
  if (project === undefined) throw new UserError('Name the project.', 'projects');
  return { ...choices, project: { permalink: project.permalink, name: truncate(project.name, 100) } };
}

export function originOf(state: ViewState): DigestOrigin {
  return fromForm(DigestOrigin, state.metadata);
}
