import type { KnownBlock } from '../../core/message.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { chartBlock, chartImage, chartWords } from '../../views/activity/chart-blocks.ts';
import { type DeploymentsData, totalOf } from '../../views/activity/deployments-chart.ts';
import type { ShownFigures } from '../../views/home/home.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** The chart of each account that has one. */
export type HomeCharts = Readonly<Record<string, KnownBlock>>;

/** Slack takes two charts a message; App Home has no more either. */
const MOST = 2;
const REFUSALS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_arguments']);

/** Publishes with charts that Slack draws, else with pictures of them, else with their words, as far as Slack takes it. */
export async function publishWithCharts<T>(
  { newBlocks, chartFiles }: Pick<Workspace, 'newBlocks' | 'chartFiles'>,
  figures: ShownFigures,
  publish: (charts: HomeCharts) => Promise<T>,
): Promise<T> {
  const charts = chartsOf(figures);
  if (charts.length === 0) return publish({});
  const native = blocksOf(charts, chartBlock);
  if (Object.keys(native).length > 0 && !(await newBlocks.areRefused('home_chart'))) {
    const published = await refusable(() => publish(native));
    if (published !== undefined) return published.value;
    await newBlocks.refuse('home_chart');
  }
  const pictures = await Promise.all(
    charts.map(async ([account, data]): Promise<[string, KnownBlock]> => {
      const file = await chartFiles.upload(data);
      return [account, file === undefined ? chartWords(data) : chartImage(data, file)];
    }),
  );
  const published = await refusable(() => publish(Object.fromEntries(pictures)));
  return published === undefined ? publish(blocksOf(charts, chartWords)) : published.value;
}

function chartsOf(figures: ShownFigures): Array<[account: string, data: DeploymentsData]> {
  if (figures === 'loading') return [];
  const known = Object.entries(figures).flatMap(([account, figure]): Array<[string, DeploymentsData]> => {
    const data = 'failed' in figure ? undefined : figure.data;
    return data === undefined || totalOf(data) === 0 ? [] : [[account, data]];
  });
  return known.slice(0, MOST);
}

function blocksOf(
  charts: ReadonlyArray<[string, DeploymentsData]>,
  draw: (data: DeploymentsData) => KnownBlock | undefined,
): HomeCharts {
  const drawn = charts.map(([account, data]) => [account, draw(data)] as const);
  return Object.fromEntries(drawn.filter((one): one is [string, KnownBlock] => one[1] !== undefined));
}

/** Undefined where Slack does not take the blocks. */
async function refusable<T>(work: () => Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await work() };
  } catch (error) {
    if (isSlackFailure(error, 'rejected') && REFUSALS.has(error.reason)) return undefined;
    throw error;
  }
}
