import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Ending } from '../../scheduler/workflows/end-steps.ts';
import { type ActivityStats, getActivity } from '../../service/activity.ts';
import { readActivityWords } from '../activity/parse-activity-arguments.ts';
import { accountFor, type Step, Text } from './inputs.ts';

/** As in manifest.yml. */
const Inputs = z.object({ range: Text, account: Text });

/** The figures of a window of time for a workflow (spec 2.12). */
export async function statisticsStep(step: Step): Promise<Ending> {
  const inputs = Inputs.parse(step.inputs);
  const range = rangeOf(inputs.range);
  const account = await accountFor(step, inputs.account);
  const { stats } = await step.workspace.accounts.use(account, (client) =>
    getActivity(client, { range, stats: true }),
  );
  if (stats === undefined) throw new UserError('The service told no figures.');
  return { outputs: outputsOf(stats) };
}

function rangeOf(typed: string | undefined): ReturnType<typeof readActivityWords>['range'] {
  const { range, project } = readActivityWords(typed?.split(' ') ?? []);
  if (project !== undefined)
    throw new UserError('The ranges are today, last_7_days, last_30_days and this_week.');
  return range;
}

/** What has nothing to tell or to compare with is left out: it is not 0. */
function outputsOf(stats: ActivityStats): Record<string, string | number> {
  const { avg_duration: average_duration, ...figures } = stats;
  const told = Object.entries({ ...figures, average_duration });
  return Object.fromEntries(
    told.filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== undefined),
  );
}
