import type { DataVisualizationBlock, KnownBlock, Message } from '../../core/message.ts';
import { sanitize } from '../../core/mrkdwn.ts';
import {
  type ActivityEvent,
  countDeployments,
  countOutcome,
  type DeploymentsData,
  OUTCOMES,
  type Outcome,
  readEventOutcome,
} from '../../service/activity.ts';
import { dayAndMonth, shortDayName } from '../blocks/formats.ts';
import { LIMITS, section } from '../blocks/make-blocks.ts';

const OUTCOME_ICONS = { succeeded: ':white_check_mark:', failed: ':x:', cancelled: ':no_entry_sign:' };

const EVENT_ICONS: ReadonlyMap<string, string> = new Map([
  ['deploy_started', ':arrow_forward:'],
  ['deploy_running', ':arrows_counterclockwise:'],
  ['deploy_pending', ':hourglass_flowing_sand:'],
  ['deploy_queued', ':hourglass_flowing_sand:'],
  ['project_created', ':new:'],
  ['server_created', ':new:'],
]);

export function outcomeIcon(event: string): string {
  const outcome = readEventOutcome(event);
  return outcome ? OUTCOME_ICONS[outcome] : (EVENT_ICONS.get(event) ?? ':small_blue_diamond:');
}

const OUTCOME_NAMES = { succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' } as const;
const CHART_TITLE = 'Deployments per day';

/** The legend names cancelled deployments only if there are some. */
function explainedOutcomes(data: Pick<DeploymentsData, 'bars'>): Outcome[] {
  return OUTCOMES.filter((outcome) => outcome !== 'cancelled' || countDeployments(data, outcome) > 0);
}

/** "42 deployments: 38 succeeded, 3 failed, 1 cancelled" */
export function totalWords(data: Pick<DeploymentsData, 'bars'>): string {
  return amountWords((outcome) => countDeployments(data, outcome));
}

/** The outcomes of a feed as text. */
export function outcomeWords(events: readonly ActivityEvent[]): string {
  return amountWords((outcome) => countOutcome(events, outcome));
}

function amountWords(amountOf: (outcome: Outcome) => number): string {
  const total = OUTCOMES.reduce((sum, outcome) => sum + amountOf(outcome), 0);
  if (total === 0) return 'no deployments';
  return `${rounded(total)} ${total === 1 ? 'deployment' : 'deployments'}: ${countedWords(amountOf)}`;
}

/** "3 succeeded, 1 failed" */
function countedWords(amountOf: (outcome: Outcome) => number): string {
  const some = OUTCOMES.filter((outcome) => amountOf(outcome) > 0);
  return some.map((outcome) => `${rounded(amountOf(outcome))} ${outcome}`).join(', ');
}

/** False without deployments, and for a single day, whose numbers the message already shows. */
function isWorthDrawing(data: Pick<DeploymentsData, 'bars'>): boolean {
  return data.bars.length > 1 && countDeployments(data) > 0;
}

/** Cached, because formatters are slow to make. */
let oneDecimal: Intl.NumberFormat | undefined;

/** "740,021", "4.5" */
export function rounded(value: number): string {
  // The same text as the formatter's, a hundred times faster.
  if (Number.isInteger(value) && value > 0 && value < 1_000) return String(value);
  oneDecimal ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return oneDecimal.format(value);
}

/** "95.2 %" */
export function percentage(value: number): string {
  // 99.96 must not read as 100.
  const figure = value < 100 ? Math.min(Math.round(value * 10) / 10, 99.9) : value;
  return `${rounded(figure)} %`;
}

/** The charts of a message, by account. */
export type Charts = ReadonlyMap<string, KnownBlock>;

/** Maximum number of charts that fit into a message. */
const MAX_CHARTS = 4;
/** Maximum number of lines for all charts as text. */
const WORDS_ROOM = 30;

/**
 * Builds a message with a chart for each account with deployments. Slack draws at most two; the others are
 * text. All are text if Slack refuses the block.
 */
export function withCharts(
  data: ReadonlyMap<string, DeploymentsData>,
  build: (charts: Charts) => Message,
): Message {
  const charts = [...data].filter(([, each]) => isWorthDrawing(each)).slice(0, MAX_CHARTS);
  if (charts.length === 0) return build(new Map());
  const maxLines = Math.floor(WORDS_ROOM / charts.length);
  const words = charts.map(([account, each]) => [account, chartWords(each, maxLines)] as const);
  const drawn = charts
    .slice(0, LIMITS.chartsInMessage)
    .map(([account, each]) => [account, chartBlock(each)] as const);
  return { ...build(new Map([...words, ...drawn])), fallback: () => build(new Map(words)) };
}

export function chartBlock(data: DeploymentsData): DataVisualizationBlock {
  const { size, groups } = groupDays(data.bars);
  return {
    type: 'data_visualization',
    title: size === 1 ? CHART_TITLE : `Deployments, ${size} days a bar`,
    chart: {
      type: 'bar',
      series: explainedOutcomes(data).map((outcome) => ({
        name: OUTCOME_NAMES[outcome],
        data: groups.map((bars) => ({ label: spanName(bars), value: countDeployments({ bars }, outcome) })),
      })),
      axis_config: {
        categories: groups.map(spanName),
        x_label: sanitize(`Days in ${data.zone}`, LIMITS.chartTitle),
      },
    },
  };
}

type Bars = DeploymentsData['bars'];

/** Groups consecutive days into as few bars as Slack's limit requires. The last bar ends today. */
function groupDays(bars: Bars): { size: number; groups: Bars[] } {
  const size = Math.ceil(bars.length / LIMITS.chartCategories);
  const groups: Bars[] = [];
  for (let end = bars.length; end > 0; end -= size) groups.unshift(bars.slice(Math.max(0, end - size), end));
  return { size, groups };
}

/** "Fri, Nov 20"; for several days "Nov 19–20" or "Oct 31–Nov 1". */
function spanName(bars: Bars): string {
  const [first, last] = [bars[0]?.day ?? '', bars.at(-1)?.day ?? ''];
  if (first === last) return shortDayName(first);
  const isOneMonth = first.slice(0, 7) === last.slice(0, 7);
  return `${dayAndMonth(first)}–${isOneMonth ? Number(last.slice(8)) : dayAndMonth(last)}`;
}

/** Width of a text bar, in characters. */
const WIDTH = 16;

/**
 * The chart as text, one line for each day with deployments.
 * @param maxLines maximum number of latest days, up to 30
 */
export function chartWords(data: DeploymentsData, maxLines: number): KnownBlock {
  const busy = data.bars.filter((bar) => countDeployments({ bars: [bar] }) > 0).slice(-maxLines);
  const most = Math.max(...busy.map((bar) => countDeployments({ bars: [bar] })));
  const longest = Math.max(...busy.map(({ day }) => shortDayName(day).length));
  const lines = busy.map((bar) => {
    const length = Math.ceil((countDeployments({ bars: [bar] }) / most) * WIDTH);
    return `${shortDayName(bar.day).padEnd(longest)}  ${'▇'.repeat(length)} ${countedWords((outcome) => bar[outcome])}`;
  });
  return section(`*${CHART_TITLE}*\n\`\`\`\n${lines.join('\n')}\n\`\`\``);
}
