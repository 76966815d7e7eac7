import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createKeyedLock } from '../core/locks.ts';

/** Draws an SVG as a PNG. Rejects where that is not possible, as on a machine that resvg has no build for. */
export type DrawPng = (svg: string) => Promise<Uint8Array>;

/** Each takes some 10 MB while it is drawn. */
const CONCURRENCY = 2;

const require = createRequire(import.meta.url);

/** Loads resvg with the first picture. It draws on threads of its own; what waits for its turn is only text. */
export function createDrawPng(): DrawPng {
  const lock = createKeyedLock();
  let count = 0;
  return (svg) => {
    count += 1;
    return lock(`picture ${count % CONCURRENCY}`, async () => {
      const { renderAsync } = await import('@resvg/resvg-js');
      const font = { loadSystemFonts: false, fontFiles: fontFilesOf() };
      return (await renderAsync(svg, { font })).asPng();
    });
  };
}

/** From beside the bundle, where `scripts/build.ts` puts them, else from their package. */
function fontFilesOf(): string[] {
  const bundled = join(import.meta.dirname, 'fonts');
  if (existsSync(bundled)) return readdirSync(bundled).map((name) => join(bundled, name));
  return [
    require.resolve(
      '@expo-google-fonts/atkinson-hyperlegible/400Regular/AtkinsonHyperlegible_400Regular.ttf',
    ),
    require.resolve('@expo-google-fonts/atkinson-hyperlegible/700Bold/AtkinsonHyperlegible_700Bold.ttf'),
  ];
}
