import type { LineSeriesOption, TitleComponentOption } from 'echarts';
import { type PastRate, rateWords } from '../views/activity/deployments-chart.ts';
import { dayAndMonth } from '../views/blocks/time.ts';
import * as theme from './chart-theme.ts';

const RATE_BLUE = '#2b5fd9';

export const RATES_TITLE: TitleComponentOption = {
  left: theme.MARGIN,
  top: theme.BARS_HEIGHT,
  text: 'Success rate, digest by digest',
  textStyle: { fontSize: 15, fontWeight: 'bold', color: theme.INK },
};

export const RATES_GRID = {
  ...theme.SIDES,
  top: theme.BARS_HEIGHT + 36,
  height: theme.RATES_HEIGHT - 36 - 40,
};

export function rateDates(rates: readonly PastRate[]) {
  return {
    type: 'category',
    gridIndex: 1,
    data: rates.map(({ day }) => dayAndMonth(day)),
    axisTick: { show: false },
    axisLine: { lineStyle: { color: theme.AXIS_LINE } },
    axisLabel: { fontSize: 14, color: theme.SOFT_INK, interval: theme.everyFew(rates.length) },
  } as const;
}

export const RATE_AXIS = {
  type: 'value',
  gridIndex: 1,
  min: 0,
  max: 100,
  interval: 50,
  axisLabel: { fontSize: 14, color: theme.SOFT_INK, formatter: '{value} %' },
  splitLine: { lineStyle: { color: theme.GRID_LINE } },
} as const;

export function rateLine(rates: readonly PastRate[]): LineSeriesOption {
  const last = rates.findLastIndex(({ rate }) => rate !== null);
  return {
    type: 'line',
    xAxisIndex: 1,
    yAxisIndex: 1,
    symbol: 'circle',
    symbolSize: 8,
    lineStyle: { width: 3, color: RATE_BLUE },
    itemStyle: { color: RATE_BLUE },
    data: rates.map(({ rate }, at) => ({
      value: rate ?? '-',
      label: { show: at === last, formatter: rateWords(rate) },
    })),
    label: { position: 'top', fontSize: 15, fontWeight: 'bold', color: RATE_BLUE },
  };
}
