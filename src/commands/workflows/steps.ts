import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { beginTest } from '../../scheduler/test-access/start-test.ts';
import { type ActivityStats, getActivity } from '../../service/activity.ts';
import { LIMITS, plainText } from '../../views/blocks/make-blocks.ts';
import type { OptionSource } from '../action.ts';
import { expectServiceRange, readActivityWords } from '../activity/activity-words.ts';
import { projectPicker, serverPicker } from '../option-sources.ts';
import { resolveAccount, resolveProject, resolveTestTarget } from '../targets/targets.ts';
import { defineStep, type WorkflowStep } from '../workflow-step.ts';

/** The author of a workflow may leave a field empty. */
const Text = z
  .string()
  .nullish()
  .transform((text) => text?.trim() || undefined);

/** Ends with the run, or with the run of the same target that is under way. */
const testAccess = defineStep({
  command: 'test',
  inputs: z.object({ project: Text, server: Text, channel: Text, account: Text }),
  actsIn: ({ channel }) => channel,
  async handle({ project: projectName, server, channel, account: accountName }, context) {
    if (projectName === undefined) throw new UserError('Name the project.');
    const { workspace, invocation } = context;
    const { account, project } = await resolveProject({ ...context, account: accountName }, projectName);
    await beginTest(workspace, {
      requestId: invocation.requestId,
      target: await resolveTestTarget(context, account, project, server),
      step: invocation.requestId,
      ...(channel === undefined ? {} : { channel }),
    });
    return undefined;
  },
});

/** The figures of a window of time. */
const deploymentStatistics = defineStep({
  command: 'activity',
  inputs: z.object({ range: Text, account: Text }),
  async handle({ range: rangeText, account: accountName }, context) {
    const { range: words, project } = readActivityWords(rangeText?.split(' ') ?? []);
    if (project !== undefined)
      throw new UserError('The ranges are today, last_7_days, last_30_days and this_week.');
    const range = expectServiceRange(words);
    const account = await resolveAccount({ ...context, account: accountName });
    const { stats } = await context.workspace.accounts.use(account, (client) =>
      getActivity(client, { range, stats: true }),
    );
    if (stats === undefined)
      throw new UserError('The service gave no figures. Run the step again later, or choose another range.');
    return { outputs: createOutputs(stats) };
  },
});

/** Fills a menu of Workflow Builder, which asks again for each text that its author types. */
function defineChoices(command: string, picker: OptionSource): WorkflowStep {
  return defineStep({
    command,
    isMenu: true,
    inputs: z.object({ query: Text, project: Text, account: Text }),
    async handle({ query = '', ...target }, context) {
      const choices = await picker.options(query, {
        ...context,
        blockId: '',
        metadata: JSON.stringify(target),
      });
      const options = choices.map(({ text, value }) => ({ text: plainText(text, LIMITS.optionText), value }));
      return { outputs: { options } };
    },
  });
}

/** Steps by `callback_id`, with inputs and outputs as in manifest.yml. */
export const STEPS: Readonly<Record<string, WorkflowStep>> = {
  test_access: testAccess,
  deployment_statistics: deploymentStatistics,
  list_projects: defineChoices('projects', projectPicker),
  list_servers: defineChoices('server show', serverPicker),
};

/** Omits figures that the service does not know: they are not 0. */
function createOutputs(stats: ActivityStats): Record<string, string | number> {
  const { avg_duration: average_duration, ...figures } = stats;
  const all = Object.entries({ ...figures, average_duration });
  return Object.fromEntries(
    all.filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== undefined),
  );
}
