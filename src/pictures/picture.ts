import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Resvg, type ResvgRenderOptions, renderAsync } from '@resvg/resvg-js';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';
import { createChart } from './charts.ts';
import { optionOf, sizeOf } from './deployments-chart-options.ts';
import { createOutlines } from './outlines.ts';
import { encodePng } from './png.ts';

const NAME = 'Atkinson Hyperlegible';
const FONT = { loadSystemFonts: false, fontFiles: fontFiles(), defaultFontFamily: NAME };
const OPTIONS: ResvgRenderOptions = {
  // Its own, so that it reads the same on light and dark.
  background: '#ffffff',
  // Slack shows a picture some 640 points wide, so this stays sharp; more takes longer to paint.
  fitTo: { mode: 'zoom', value: 1.25 },
  font: FONT,
};

const outlined = createOutlines((svg) => new Resvg(svg, { font: FONT }).toString());

/**
 * Draws deployments per day as a PNG, without a browser or a system font. The same data gives the same bytes.
 * For a process of its own: the libraries are larger than the rest of an idle process.
 */
export async function drawDeployments(data: DeploymentsData): Promise<Buffer> {
  return encodePng(await renderAsync(outlined(svgOf(data)), OPTIONS));
}

function svgOf(data: DeploymentsData): string {
  const chart = createChart(sizeOf(data));
  try {
    chart.setOption(optionOf(data, NAME));
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

/** From beside the bundle, where `scripts/build.ts` puts them, or from their package. */
function fontFiles(): string[] {
  const bundled = join(import.meta.dirname, 'fonts');
  if (existsSync(bundled)) return readdirSync(bundled).map((file) => join(bundled, file));
  const require = createRequire(import.meta.url);
  return [
    require.resolve(
      '@expo-google-fonts/atkinson-hyperlegible/400Regular/AtkinsonHyperlegible_400Regular.ttf',
    ),
    require.resolve('@expo-google-fonts/atkinson-hyperlegible/700Bold/AtkinsonHyperlegible_700Bold.ttf'),
  ];
}
