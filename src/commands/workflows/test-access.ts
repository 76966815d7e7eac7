import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { beginTest } from '../../scheduler/test-access/start-test.ts';
import { projectOf, serverOf } from '../resolve-target.ts';
import { contextOf, type Step, Text } from './inputs.ts';

/** As in manifest.yml. */
const Inputs = z.object({ project: Text, server: Text, channel: Text, account: Text });

/**
 * Tests a project or server for a workflow. The step ends with the run, by its follower; where one of the same target
 * goes on already, with that.
 */
export async function testAccessStep(step: Step): Promise<undefined> {
  const inputs = Inputs.parse(step.inputs);
  if (inputs.project === undefined) throw new UserError('Name the project.');
  const context = contextOf(step, inputs.account);
  const { account, project } = await projectOf(context, inputs.project);
  const { permalink, name } = project;
  const one =
    inputs.server === undefined ? {} : { server: await serverOf(context, account, permalink, inputs.server) };
  await beginTest(step.workspace, {
    requestId: step.execution,
    target: { account: account.name, project: { permalink, name }, ...one },
    step: step.execution,
    ...(inputs.channel === undefined ? {} : { channel: inputs.channel }),
  });
  return undefined;
}
