import { readFileSync } from 'node:fs';
import { create, type Font, type Glyph } from 'fontkitten';
import { createPen, type Mask } from './pen.ts';

/** The letters of a font, for a machine that may have none. Sizes and widths are in pixels. */
export interface Lettering {
  /**
   * Gives the width of a text, and calls back with each letter and how far right it stands. A letter's origin is `MARGIN`
   * from the left of its mask and a size under the top.
   */
  set(text: string, size: number, onLetter?: (mask: Mask, left: number) => void): number;
}

/** Some letters reach over their width. */
export const MARGIN = 3;
/** A letter begins at a quarter of a pixel, so that letters stand evenly and few of them have to be kept. */
const PARTS = 4;
const MOST_LETTERS = 1_000;
/** Marks and invisible characters; left out where the font does not have them. */
const UNSEEN = /^[\p{M}\p{C}]$/u;

/** What a character looks like. */
interface Letter {
  glyph: Glyph;
  /** In the font's units. */
  width: number;
  masks: Map<number, Mask>;
}

export function openLettering(file: string): Lettering {
  const font = fontIn(file);
  const { unitsPerEm } = font;
  const letters = new Map<string, Letter | undefined>();

  /** Undefined for what is left out. */
  function letterOf(char: string): Letter | undefined {
    if (letters.has(char)) return letters.get(char);
    const code = char.codePointAt(0) ?? 0;
    const isLeftOut = UNSEEN.test(char) && !font.hasGlyphForCodePoint(code);
    const glyph = font.glyphForCodePoint(code);
    const letter = isLeftOut ? undefined : { glyph, width: glyph.advanceWidth, masks: new Map() };
    if (letters.size >= MOST_LETTERS) letters.clear();
    letters.set(char, letter);
    return letter;
  }

  function maskOf({ glyph, width, masks }: Letter, size: number, part: number): Mask {
    const key = size * PARTS + part;
    const before = masks.get(key);
    if (before !== undefined) return before;
    const scale = size / unitsPerEm;
    const pen = createPen(Math.ceil(width * scale) + 2 * MARGIN + 1, Math.ceil(size * 1.4), {
      x: MARGIN + part / PARTS,
      y: size,
      scale,
    });
    glyph.path.commands.forEach(pen.follow);
    const mask = pen.fill();
    masks.set(key, mask);
    return mask;
  }

  function set(text: string, size: number, onLetter?: (mask: Mask, left: number) => void): number {
    let left = 0;
    for (const char of text.normalize('NFC')) {
      const letter = letterOf(char);
      if (letter === undefined) continue;
      const parts = Math.round(left * PARTS);
      onLetter?.(maskOf(letter, size, parts % PARTS), Math.floor(parts / PARTS));
      left += (letter.width * size) / unitsPerEm;
    }
    return left;
  }

  return { set };
}

function fontIn(file: string): Font {
  const font = create(readFileSync(file));
  if (font.isCollection) throw new Error(`${file} has several fonts`);
  return font;
}
