import type { Plugin } from 'vite';
import { codePoints, shortcodes } from './src/emoji/shortcodes.ts';
import { iconNames } from './src/ui/icon-names.ts';

interface Icons {
  icons: Record<string, { body: string } | undefined>;
}

/**
 * Emits `icons.svg` (a sprite of the interface's icons) and `emoji/<code points>.svg`, so that the page looks
 * the same on machines without an emoji font. An unknown name fails the build.
 */
export function pictures(): Plugin {
  return {
    name: 'pictures',
    async generateBundle() {
      // Read when needed only: the sets are megabytes, and most of the time nothing is built.
      const lucide = await import('@iconify-json/lucide');
      const emoji = await import('@iconify-json/fluent-emoji-flat');
      this.emitFile({ type: 'asset', fileName: 'icons.svg', source: sprite(lucide.icons) });
      for (const [fileName, source] of emojiFiles(emoji.icons, emoji.chars)) {
        this.emitFile({ type: 'asset', fileName, source });
      }
    },
  };
}

function sprite(set: Icons): string {
  const symbols = iconNames.map((name) => {
    return `<symbol id="${name}" viewBox="0 0 24 24">${bodyOf(set, name)}</symbol>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>`;
}

function emojiFiles(set: Icons, names: Record<string, string | undefined>): Map<string, string> {
  const files = new Map<string, string>();
  for (const emoji of Object.values(shortcodes)) {
    const code = codePoints(emoji);
    const body = bodyOf(set, names[code] ?? `emoji ${code}`);
    files.set(
      `emoji/${code}.svg`,
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${body}</svg>`,
    );
  }
  return files;
}

function bodyOf({ icons }: Icons, name: string): string {
  const icon = icons[name];
  if (icon === undefined) throw new Error(`there is no picture named ${name}`);
  return icon.body;
}
