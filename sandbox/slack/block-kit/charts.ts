import { z } from 'zod';
import { fault } from './explain.ts';
import { LIMITS } from './limits.ts';
import { chars, id, items } from './texts.ts';

const label = chars(LIMITS.chartLabel, 1);
const axisLabel = chars(LIMITS.chartTitle).optional();

const segment = z.strictObject({
  label,
  value: z.number().refine((value) => value > 0, 'must be more than 0'),
});

const pie = z.strictObject({
  type: z.literal('pie'),
  segments: items(segment, LIMITS.chartSeries, 1),
});

const series = z.strictObject({
  name: label,
  data: items(z.strictObject({ label, value: z.number() }), LIMITS.chartPoints, 1),
});

const axes = {
  series: items(series, LIMITS.chartSeries, 1),
  axis_config: z.strictObject({
    categories: items(label, LIMITS.chartPoints, 1),
    x_label: axisLabel,
    y_label: axisLabel,
  }),
};

const bar = z.strictObject({ type: z.literal('bar'), ...axes });
const area = z.strictObject({ type: z.literal('area'), ...axes });
const line = z.strictObject({ type: z.literal('line'), ...axes });

type Chart = z.infer<typeof pie> | z.infer<typeof bar> | z.infer<typeof area> | z.infer<typeof line>;

/** A chart that Slack itself draws, in messages and on App Home. */
export const dataVisualization = z
  .strictObject({
    type: z.literal('data_visualization'),
    block_id: id.optional(),
    title: chars(LIMITS.chartTitle, 1),
    chart: z.discriminatedUnion('type', [pie, bar, area, line]),
  })
  .refine(({ chart }) => hasOwnNames(chart), 'series must have unique names')
  .refine(
    ({ chart }) => isComplete(chart),
    'each series must have one data point for each of `axis_config.categories`',
  );

function hasOwnNames(chart: Chart): boolean {
  if (chart.type === 'pie') return true;
  return new Set(chart.series.map((one) => one.name)).size === chart.series.length;
}

function isComplete(chart: Chart): boolean {
  if (chart.type === 'pie') return true;
  const { categories } = chart.axis_config;
  return chart.series.every(
    ({ data }) =>
      data.length === categories.length &&
      categories.every((category) => data.some((point) => point.label === category)),
  );
}

export function checkCharts(blocks: readonly { type: string }[], root: string): string[] {
  const charts = blocks.filter(({ type }) => type === 'data_visualization');
  if (charts.length <= LIMITS.charts) return [];
  return [fault(`no more than ${LIMITS.charts} data_visualization blocks allowed`, root)];
}
