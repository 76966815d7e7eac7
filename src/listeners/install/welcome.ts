import { z } from 'zod';
import type { Job } from '../../core/job.ts';
import { welcomeMessage } from '../../views/help/start.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

const Greeting = z.object({ user: z.string() });
type Greeting = z.infer<typeof Greeting>;

/** Greets the person who installed Deckhand, by direct message; a job, so that the browser does not wait for Slack. */
export const WELCOME = defineJob({
  queue: 'welcome',
  schema: Greeting,
  options: { concurrency: 10, attempts: 5, backoffMs: 10_000 },
  run: welcome,
});

async function welcome({ config, accounts, slack }: Workspace, { data }: Job<Greeting>): Promise<void> {
  const { SLACK_COMMAND: word, SERVICE_SIGNUP_URL } = config;
  const canSignUp = SERVICE_SIGNUP_URL !== undefined;
  const standing = { word, accounts: await accounts.list(), channel: {}, isAdmin: true, canSignUp };
  await slack.sendDirectMessage(data.user, welcomeMessage(standing));
}
