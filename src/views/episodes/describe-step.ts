import { bold, code, mrkdwn } from '../../core/mrkdwn.ts';
import type { FailedStep } from '../../records/failed-steps.ts';

/** The failed step and its commit, a line each; mrkdwn. */
export function failedStepLines(step: FailedStep): string[] {
  return [describeStep(step), describeCommit(step)].filter((line) => line !== undefined);
}

/** "Failed in *Building: npm run build*: npm ERR! Missing script"; mrkdwn */
export function describeStep({ title, server, line }: FailedStep): string | undefined {
  if (title === undefined) return undefined;
  const place = server === undefined ? '' : ` on ${mrkdwn(server, 60)}`;
  return `Failed in ${bold(title, 120)}${place}${line === undefined ? '' : `: ${mrkdwn(line, 200)}`}`;
}

/** "`d4fc766` *Fix cart rounding* by Ben Sommer, deployed by Marta Reis"; mrkdwn */
export function describeCommit({ revision, message, author, deployer }: FailedStep): string | undefined {
  const what = [
    revision === undefined ? undefined : code(revision),
    message === undefined ? undefined : bold(message, 120),
    author === undefined ? undefined : `by ${mrkdwn(author, 60)}`,
  ].filter((part) => part !== undefined);
  // The line of the event has the revision and the person who deployed it.
  if (message === undefined && author === undefined) return undefined;
  const who = deployer === undefined || deployer === author ? '' : `, deployed by ${mrkdwn(deployer, 60)}`;
  return `${what.join(' ')}${who}`;
}
