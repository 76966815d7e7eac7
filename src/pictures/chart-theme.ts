import type { BarSeriesOption } from 'echarts';
import type { Outcome } from '../views/activity/outcomes.ts';

/** Sizes are in pixels, before the zoom that sharp screens need. */
export const WIDTH = 800;
export const BARS_HEIGHT = 420;
export const RATES_HEIGHT = 160;
export const NOTES_HEIGHT = 28;
export const SIDES = { left: 68, right: 36 };
export const MARGIN = 28;
export const BARS_TOP = 116;
/** Room under an axis for its labels. */
export const LABELS = 56;

export const INK = '#1d1c1d';
export const SOFT_INK = '#616061';
export const GRID_LINE = '#ececee';
export const FAILED_INK = '#a8323f';

type Decal = NonNullable<NonNullable<BarSeriesOption['itemStyle']>['decal']>;

/** They differ in lightness and pattern too, so that no eye needs the hues. */
export const STYLES: Record<Outcome, { name: string; color: string; decal?: Decal }> = {
  succeeded: { name: 'Succeeded', color: '#12967a' },
  failed: {
    name: 'Failed',
    color: '#c8414f',
    decal: { color: 'rgba(255,255,255,0.6)', dashArrayX: [1, 0], dashArrayY: [2, 4], rotation: -Math.PI / 4 },
  },
  cancelled: {
    name: 'Cancelled',
    color: '#b9bec9',
    decal: {
      symbol: 'circle',
      symbolSize: 0.6,
      color: 'rgba(90,96,110,0.75)',
      dashArrayX: [
        [8, 8],
        [0, 8, 8, 0],
      ],
      dashArrayY: [6, 0],
    },
  },
};

/** Up to this many, each bar has room for words. */
export const FEW_BARS = 10;
const MOST_LABELS = 8;
/** Of a small label, in pixels. */
export const DIGIT_WIDTH = 8;
/** So that one failure among thousands is seen. */
export const LEAST_HEIGHT = 5;
/** Bars have a white edge, which would eat the axis. */
export const ABOVE_BARS = 5;

export const AXIS_LINE = '#b5b5ba';

/** Counted from the last one, so that the latest always has its label. */
export function everyFew(length: number): (index: number) => boolean {
  const step = length <= FEW_BARS ? 1 : Math.ceil(length / MOST_LABELS);
  return (index) => (length - 1 - index) % step === 0;
}
