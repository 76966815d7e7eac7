import type { LocalSlack, LocalSlackOptions } from '../../sandbox/slack/local-slack.ts';
import { startLocalSlack } from '../../sandbox/slack/server.ts';
import { portOfPages } from './free-port.ts';
import { holdToLimits } from './sent.ts';

/** Never waited out where all is well: a loaded machine takes many times as long as an idle one. */
const MAX_WAIT_MS = 60_000;

/** Slack gives three seconds for an ack and for opening a modal, which a loaded machine may need for itself. */
const SLACK_WAITS_MS = 20_000;

/** A local Slack that gives a loaded machine time. Its `stop` throws what broke the limits of Slack. */
export async function startSlack(options?: LocalSlackOptions): Promise<LocalSlack> {
  const slack = await startLocalSlack({
    port: options?.pageDir === undefined ? 0 : await portOfPages(),
    ackTimeoutMs: SLACK_WAITS_MS,
    triggerLifeMs: SLACK_WAITS_MS,
    ...options,
  });
  const { until, stop } = slack;
  const endOfLimits = holdToLimits();
  return Object.assign(slack, {
    async stop() {
      await stop();
      endOfLimits();
    },
    until: ((check, { timeoutMs = MAX_WAIT_MS, what } = {}) =>
      until(check, { timeoutMs, ...(what === undefined ? {} : { what }) })) satisfies LocalSlack['until'],
  });
}
