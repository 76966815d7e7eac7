import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';
import { optionOf, sizeOf } from './deployments-chart-options.ts';

const FONT = 'Atkinson Hyperlegible';
/** Slack shows a picture smaller than it is, so this stays sharp; twice the size took half as long again to draw. */
const ZOOM = 1.5;
/** Its own, so that it reads the same on light and dark. */
const BACKGROUND = '#ffffff';

/**
 * Draws deployments per day as a PNG, without a browser or a system font. The same data gives the same bytes.
 * Takes some tens of milliseconds, most of them off the main thread; the first one loads the libraries too.
 */
export async function drawDeployments(data: DeploymentsData): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const picture = await renderAsync(await svgOf(data), {
    background: BACKGROUND,
    fitTo: { mode: 'zoom', value: ZOOM },
    font: { loadSystemFonts: false, fontFiles: fontFiles(), defaultFontFamily: FONT },
  });
  return picture.asPng();
}

async function svgOf(data: DeploymentsData): Promise<string> {
  // Loaded with the first picture: the library would be the larger half of an idle process.
  const { createChart } = await import('./charts.ts');
  const chart = createChart(sizeOf(data));
  try {
    chart.setOption(optionOf(data, FONT));
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
