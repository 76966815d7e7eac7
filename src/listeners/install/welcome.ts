import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import { welcomeMessage } from '../../views/help/welcome.ts';

/** Greets whoever installed Deckhand, by direct message; a job, so that Slack's pace holds up no browser. */
export const WELCOME = 'welcome';

const Greeting = z.object({ workspace: z.string(), user: z.string() });

export async function welcome(deckhand: Deckhand, { data }: Job<JobData>): Promise<void> {
  const { workspace, user } = Greeting.parse(data);
  const { SLACK_COMMAND: word, SERVICE_SIGNUP_URL } = deckhand.config;
  const accounts = await deckhand.accounts.list(workspace);
  const canSignUp = SERVICE_SIGNUP_URL !== undefined;
  const message = welcomeMessage({ word, accounts, channel: {}, isAdmin: true, canSignUp });
  await deckhand.slack.sendDirectMessage(workspace, user, message);
}
