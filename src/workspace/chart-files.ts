import { type Clock, DAY_MS } from '../core/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import type { Pictures } from '../pictures/pictures.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';
import { altText, chartName, type DeploymentsData } from '../views/activity/deployments-chart.ts';

/** Charts as pictures, for where Slack draws none itself. */
export function createChartFiles({
  slack,
  pictures,
  clock,
  log,
}: {
  slack: WorkspaceSlack;
  pictures: Pictures;
  clock: Clock;
  log: Logger;
}) {
  const files = new TtlCache<string>(clock, DAY_MS);

  async function draw(data: DeploymentsData): Promise<string> {
    return slack.upload({
      filename: 'deployments.png',
      title: chartName(data),
      bytes: await pictures.draw(data),
      altText: altText(data),
    });
  }

  return {
    /** Slack's id of the uploaded picture; undefined where Slack does not take it. The same chart is uploaded once. */
    async upload(data: DeploymentsData): Promise<string | undefined> {
      try {
        return await files.get([JSON.stringify(data)], () => draw(data));
      } catch (error) {
        if (!isSlackFailure(error)) throw error;
        const { method, reason } = error;
        log.warn({ event: 'picture_failed', method, reason }, 'Slack refused a picture');
        return undefined;
      }
    },
  };
}
