import { type EChartsType, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
// Each registers itself; loading all that the library has takes three times as long.
import 'echarts/lib/chart/bar.js';
import 'echarts/lib/chart/line.js';
import 'echarts/lib/component/grid.js';
import 'echarts/lib/component/legend.js';
import 'echarts/lib/component/title.js';

use(SVGRenderer);

/** A chart that is drawn as SVG text, without a page. The caller disposes of it. */
export function createChart(size: { width: number; height: number }): EChartsType {
  return init(null, null, { renderer: 'svg', ssr: true, ...size });
}
