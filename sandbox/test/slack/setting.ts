import { WebClient } from '@slack/web-api';
import { afterEach } from 'vitest';
import type { LocalSlackOptions } from '../../slack/local-slack.ts';
import { startLocalSlack } from '../../slack/server.ts';
import type { WorkspaceOptions } from '../../slack/state/workspaces.ts';
import { startTinyApp } from './tiny-app.ts';

export type Setting = Awaited<ReturnType<typeof startSetting>>;

const toStop: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of toStop.splice(0)) await stop();
});

export const ACME = {
  id: 'T0ACME',
  name: 'Acme',
  users: [
    { id: 'U0ANNA', name: 'anna', real_name: 'Anna Admin', is_admin: true, tz: 'Europe/Lisbon' },
    { id: 'U0MAX', name: 'max', real_name: 'Max Member' },
  ],
  channels: [
    { id: 'C0DEPLOY', name: 'deploys' },
    { id: 'C0OTHER', name: 'other', bot_is_member: false },
    { id: 'C0PRIV', name: 'secret', is_private: true, bot_is_member: false },
    { id: 'C0OLD', name: 'old', is_archived: true },
  ],
} satisfies WorkspaceOptions;

/** A Slack with one workspace, and a tiny app that it delivers to; both end with the test. */
export async function startSetting(
  options: LocalSlackOptions = {},
  workspace: Partial<WorkspaceOptions> = {},
) {
  const slack = await startLocalSlack(options);
  const app = await startTinyApp(() => slack.app.signingSecret);
  toStop.push(app.stop, slack.stop);
  slack.deliverTo(app.url);
  const { botToken: token, botUserId: bot } = slack.addWorkspace({ ...ACME, ...workspace });
  return { slack, app, token, bot, client: clientOf(slack, token), anna: slack.as('T0ACME', 'U0ANNA') };
}

/** The payload or event that the app got last. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into whatever Slack sends
export function lastSent({ app }: Pick<Setting, 'app'>): any {
  const payload = app.received.at(-1)?.payload;
  return payload?.event ?? payload;
}

export async function errorOf(call: Promise<unknown>): Promise<string> {
  return (await refusalOf(call)).error;
}

/** A Web API client as an app has one, without any retries. */
export function clientOf(slack: { apiUrl: string }, token: string): WebClient {
  return new WebClient(token, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
}

/** The `error` of a refused call. */
export async function refusalOf(call: Promise<unknown>): Promise<{ error: string; messages: string[] }> {
  const outcome = await call.then(
    () => undefined,
    ({ data }: { data?: { error: string; response_metadata?: { messages?: string[] } } }) => data,
  );
  if (!outcome) throw new Error('the call was not refused');
  return { error: outcome.error, messages: outcome.response_metadata?.messages ?? [] };
}
