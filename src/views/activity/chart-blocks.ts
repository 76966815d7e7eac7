import type { DataVisualizationBlock, KnownBlock } from '../../core/message.ts';
import { plain } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { section } from '../blocks/message.ts';
import {
  altText,
  barName,
  barWords,
  chartTitle,
  type DeploymentsData,
  explainedOutcomes,
  OUTCOME_NAMES,
  totalOfBar,
  zoneWords,
} from './deployments-chart.ts';

/** Of a bar of words, in characters. */
const WIDTH = 16;
/** The latest; more could be more than a section takes. */
const MOST_LINES = 30;

/** The chart that Slack draws; undefined where it has more bars than Slack takes. */
export function chartBlock(data: DeploymentsData): DataVisualizationBlock | undefined {
  if (data.bars.length > LIMITS.chartCategories) return undefined;
  const categories = data.bars.map((bar) => barName(bar, data));
  return {
    type: 'data_visualization',
    title: chartTitle(data),
    chart: {
      type: 'bar',
      series: explainedOutcomes(data).map((outcome) => ({
        name: OUTCOME_NAMES[outcome],
        data: data.bars.map((bar) => ({ label: barName(bar, data), value: bar[outcome] })),
      })),
      axis_config: {
        categories,
        x_label: plain(zoneWords(data), LIMITS.chartTitle),
      },
    },
  };
}

/** The chart as an uploaded picture. @param id Slack's id of the file */
export function chartImage(data: DeploymentsData, id: string): KnownBlock {
  return { type: 'image', slack_file: { id }, alt_text: altText(data) };
}

/** The chart in words, a line for each bar that has deployments. */
export function chartWords(data: DeploymentsData): KnownBlock {
  const busy = data.bars.filter((bar) => totalOfBar(bar) > 0).slice(-MOST_LINES);
  const most = Math.max(...busy.map((bar) => totalOfBar(bar)));
  const longest = Math.max(...busy.map((bar) => barName(bar, data).length));
  const lines = busy.map((bar) => {
    const length = Math.ceil((totalOfBar(bar) / most) * WIDTH);
    return `${barName(bar, data).padEnd(longest)}  ${'▇'.repeat(length)} ${barWords(bar)}`;
  });
  return section(`*${chartTitle(data)}*\n\`\`\`\n${lines.join('\n')}\n\`\`\``);
}
