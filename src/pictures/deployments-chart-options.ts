import type {
  BarSeriesOption,
  EChartsOption,
  LegendComponentOption,
  TitleComponentOption,
  YAxisComponentOption,
} from 'echarts';
import { plain } from '../core/mrkdwn.ts';
import {
  barName,
  chartTitle,
  type DeploymentsBar,
  type DeploymentsData,
  isHourly,
  OUTCOMES,
  ratesOf,
  totalOf,
  totalWords,
} from '../views/activity/deployments-chart.ts';
import { dayAndMonth, weekday } from '../views/blocks/time.ts';
import * as theme from './chart-theme.ts';
import { RATE_AXIS, RATES_GRID, RATES_TITLE, rateDates, rateLine } from './rates-chart-options.ts';

const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** In pixels, before the zoom that sharp screens need. */
export function sizeOf(data: DeploymentsData): { width: number; height: number } {
  return { width: theme.WIDTH, height: notesTop(data) + theme.NOTES_HEIGHT };
}

function notesTop(data: DeploymentsData): number {
  return theme.BARS_HEIGHT + (ratesOf(data).length === 0 ? 0 : theme.RATES_HEIGHT);
}

/** The options of ECharts: bars stacked by outcome, a day or an hour each, and below them the line of past success rates. Pure. */
export function optionOf(data: DeploymentsData, fontFamily: string): EChartsOption {
  const rates = ratesOf(data);
  const hasRates = rates.length > 0;
  return {
    animation: false,
    textStyle: { fontFamily, color: theme.INK },
    title: [
      mainTitle(data),
      notes(data),
      ...(totalOf(data) === 0 ? [NOTHING] : []),
      ...(hasRates ? [RATES_TITLE] : []),
    ],
    legend: legendOf(data),
    grid: [
      { ...theme.SIDES, top: theme.BARS_TOP, height: theme.BARS_HEIGHT - theme.BARS_TOP - theme.LABELS },
      ...(hasRates ? [RATES_GRID] : []),
    ],
    xAxis: [timeAxis(data), ...(hasRates ? [rateDates(rates)] : [])],
    yAxis: [countAxis(data), ...(hasRates ? [RATE_AXIS] : [])],
    series: [...barsOf(data.bars), ...(hasRates ? [rateLine(rates)] : [])],
  };
}

function mainTitle(data: DeploymentsData): TitleComponentOption {
  return {
    left: theme.MARGIN,
    top: 22,
    itemGap: 8,
    text: chartTitle(data),
    textStyle: { fontSize: 22, fontWeight: 'bold', color: theme.INK },
    // The library keeps widths by text in a plain object: a line that is `__proto__` and nothing more would spoil all.
    subtext: [`${plain(data.title, 80)} `, ...(totalOf(data) === 0 ? [] : [totalWords(data)])].join('\n'),
    subtextStyle: { fontSize: 15, lineHeight: 21, color: theme.SOFT_INK },
  };
}

function notes(data: DeploymentsData): TitleComponentOption {
  const first = data.bars[0];
  const isCut = data.isCut && first !== undefined;
  const cut = isCut
    ? ` The service lists its latest events only: from ${isHourly(data) ? barName(first, data) : dayAndMonth(first.day)} on.`
    : '';
  return {
    left: theme.MARGIN,
    top: notesTop(data),
    padding: [0, 5],
    text: `${isHourly(data) ? 'Hours' : 'Days'} in ${data.zone}.${cut}`,
    textStyle: { fontSize: 13, fontWeight: 'normal', color: theme.SOFT_INK },
  };
}

/** Cancelled deployments are explained only where there are some. */
function legendOf(data: DeploymentsData): LegendComponentOption {
  const shown = OUTCOMES.filter((outcome) => outcome !== 'cancelled' || totalOf(data, outcome) > 0);
  return {
    show: totalOf(data) > 0,
    right: theme.SIDES.right,
    top: 26,
    itemWidth: 22,
    itemHeight: 14,
    itemGap: 20,
    data: shown.map((outcome) => theme.STYLES[outcome].name),
    textStyle: { fontSize: 15, color: theme.INK },
  };
}

const NOTHING: TitleComponentOption = {
  left: 'center',
  top: theme.BARS_TOP + 96,
  text: 'No deployments in this time',
  textStyle: { fontSize: 18, fontWeight: 'normal', color: theme.SOFT_INK },
};

function timeAxis(data: DeploymentsData) {
  const { bars } = data;
  const isFew = bars.length <= theme.FEW_BARS;
  const label = (bar: DeploymentsBar): string => {
    if (bar.hour !== undefined) return barName(bar, data);
    return isFew ? `${weekday(bar.day)}\n${dayAndMonth(bar.day)}` : dayAndMonth(bar.day);
  };
  return {
    type: 'category',
    data: bars.map(label),
    z: theme.ABOVE_BARS,
    axisTick: { show: false },
    axisLine: { lineStyle: { color: theme.AXIS_LINE } },
    axisLabel: { fontSize: 14, lineHeight: 18, color: theme.SOFT_INK, interval: theme.everyFew(bars.length) },
  } as const;
}

function countAxis(data: DeploymentsData): YAxisComponentOption {
  const most = Math.max(0, ...data.bars.map((bar) => totalOf({ bars: [bar] })));
  return {
    type: 'value',
    minInterval: 1,
    splitNumber: 4,
    // Room for the labels on the highest bar.
    boundaryGap: [0, data.bars.length <= theme.FEW_BARS ? '20%' : '8%'],
    ...(most < 4 ? { max: 4 } : {}),
    axisLabel: { fontSize: 14, color: theme.SOFT_INK, formatter: shortNumber },
    splitLine: { lineStyle: { color: theme.GRID_LINE } },
  };
}

function barsOf(columns: readonly DeploymentsBar[]): BarSeriesOption[] {
  const bars = OUTCOMES.map((outcome): BarSeriesOption => {
    const { name, ...itemStyle } = theme.STYLES[outcome];
    return {
      type: 'bar',
      name,
      stack: 'bar',
      barMaxWidth: 64,
      barCategoryGap: '32%',
      barMinHeight: theme.LEAST_HEIGHT,
      itemStyle: { ...itemStyle, borderColor: '#ffffff', borderWidth: 1 },
      // Nothing at all, for a bar of 0 would have the least height.
      data: columns.map((bar) => bar[outcome] || '-'),
    };
  });
  return [...bars, totalsOf(columns)];
}

/** Nothing stacked on top of each bar, to carry its total and, where there is room, its failures. */
function totalsOf(columns: readonly DeploymentsBar[]): BarSeriesOption {
  const isFew = columns.length <= theme.FEW_BARS;
  const longest = Math.max(...columns.map((bar) => totalLabel(bar).length));
  const hasRoom =
    columns.length * (longest + 1) * theme.DIGIT_WIDTH <= theme.WIDTH - theme.SIDES.left - theme.SIDES.right;
  return {
    type: 'bar',
    stack: 'bar',
    silent: true,
    data: columns.map((bar) => ({
      value: 0,
      label: {
        show: hasRoom && totalOf({ bars: [bar] }) > 0,
        formatter: isFew ? fullLabel(bar) : totalLabel(bar),
      },
    })),
    label: {
      position: 'top',
      distance: 4,
      fontSize: isFew ? 16 : 13,
      fontWeight: 'bold',
      color: theme.INK,
      rich: {
        total: { fontSize: 16, fontWeight: 'bold', color: theme.INK, lineHeight: 20 },
        failed: { fontSize: 13, color: theme.FAILED_INK, lineHeight: 17 },
      },
    },
  };
}

function totalLabel(bar: DeploymentsBar): string {
  return shortNumber(totalOf({ bars: [bar] }));
}

function fullLabel(bar: DeploymentsBar): string {
  const failed = bar.failed === 0 ? '' : `\n{failed|${shortNumber(bar.failed)} failed}`;
  return `{total|${totalLabel(bar)}}${failed}`;
}

/** "950", "1.2k", "3M" */
function shortNumber(value: number): string {
  return SHORT.format(value);
}
