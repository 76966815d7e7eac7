import type { DataVisualizationBlock, KnownBlock } from '../../core/message.ts';
import { sanitize, truncate } from '../../core/mrkdwn.ts';
import { shortDayName } from '../blocks/days.ts';
import { LIMITS } from '../blocks/limits.ts';
import { section } from '../blocks/message.ts';
import {
  altText,
  barWords,
  CHART_TITLE,
  type DeploymentsData,
  explainedOutcomes,
  OUTCOME_NAMES,
  totalOfBar,
  zoneWords,
} from './deployments-chart.ts';

/** The charts of a message, by account. */
export type Charts = ReadonlyMap<string, KnownBlock>;

/** Of a bar of words, in characters. */
const WIDTH = 16;

/** The chart that Slack draws; undefined where it has more days than Slack takes. */
export function chartBlock(data: DeploymentsData): DataVisualizationBlock | undefined {
  if (data.bars.length > LIMITS.chartCategories) return undefined;
  return {
    type: 'data_visualization',
    title: CHART_TITLE,
    chart: {
      type: 'bar',
      series: explainedOutcomes(data).map((outcome) => ({
        name: OUTCOME_NAMES[outcome],
        data: data.bars.map((bar) => ({ label: shortDayName(bar.day), value: bar[outcome] })),
      })),
      axis_config: {
        categories: data.bars.map(({ day }) => shortDayName(day)),
        x_label: sanitize(zoneWords(data), LIMITS.chartTitle),
      },
    },
  };
}

/** The chart as an uploaded picture. @param id Slack's id of the file */
export function chartImage(data: DeploymentsData, id: string, maxAltText: number): KnownBlock {
  return { type: 'image', slack_file: { id }, alt_text: truncate(altText(data), maxAltText) };
}

/** The chart in words, a line for each day that has deployments. @param maxLines how many of the latest, up to 30 */
export function chartWords(data: DeploymentsData, maxLines: number): KnownBlock {
  const busy = data.bars.filter((bar) => totalOfBar(bar) > 0).slice(-maxLines);
  const most = Math.max(...busy.map((bar) => totalOfBar(bar)));
  const longest = Math.max(...busy.map(({ day }) => shortDayName(day).length));
  const lines = busy.map((bar) => {
    const length = Math.ceil((totalOfBar(bar) / most) * WIDTH);
    return `${shortDayName(bar.day).padEnd(longest)}  ${'▇'.repeat(length)} ${barWords(bar)}`;
  });
  return section(`*${CHART_TITLE}*\n\`\`\`\n${lines.join('\n')}\n\`\`\``);
}
