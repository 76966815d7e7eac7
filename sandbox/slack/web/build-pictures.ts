import { createRequire } from 'node:module';
import type { Plugin } from 'vite';
import { codePoints, shortcodes } from './src/emoji/shortcodes.ts';
import { iconNames } from './src/ui/icon-names.ts';

interface IconSet {
  icons: Record<string, { body: string } | undefined>;
}

const load = createRequire(import.meta.url);

/**
 * Emits `icons.svg` (a sprite of the interface's icons) and `emoji/<code points>.svg`, so that the page looks
 * the same on machines without an emoji font. An unknown name fails the build.
 */
export function pictures(): Plugin {
  return {
    name: 'pictures',
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: 'icons.svg', source: sprite() });
      for (const [fileName, source] of emojiFiles()) this.emitFile({ type: 'asset', fileName, source });
    },
  };
}

function sprite(): string {
  const { icons } = load('@iconify-json/lucide/icons.json') as IconSet;
  const symbols = iconNames.map((name) => {
    return `<symbol id="${name}" viewBox="0 0 24 24">${bodyOf(icons, name)}</symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`;
}

function emojiFiles(): Map<string, string> {
  const { icons } = load('@iconify-json/fluent-emoji-flat/icons.json') as IconSet;
  const names = load('@iconify-json/fluent-emoji-flat/chars.json') as Record<string, string | undefined>;
  const files = new Map<string, string>();
  for (const emoji of Object.values(shortcodes)) {
    const code = codePoints(emoji);
    const body = bodyOf(icons, names[code] ?? `emoji ${code}`);
    files.set(
      `emoji/${code}.svg`,
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${body}</svg>`,
    );
  }
  return files;
}

function bodyOf(icons: IconSet['icons'], name: string): string {
  const icon = icons[name];
  if (icon === undefined) throw new Error(`there is no picture named ${name}`);
  return icon.body;
}
