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
const MOST_GLYPHS = 1_000;
/** Marks and invisible characters; left out where the font does not have them. */
const UNSEEN = /^[\p{M}\p{C}]$/u;

export function openLettering(file: string): Lettering {
  const font = fontIn(file);
  const { unitsPerEm } = font;
  const known = new Map<string, Mask>();
  const glyphs = new Map<string, Glyph | undefined>();

  /** Undefined for what is left out. */
  function glyphOf(char: string): Glyph | undefined {
    if (glyphs.has(char)) return glyphs.get(char);
    const code = char.codePointAt(0) ?? 0;
    const isLeftOut = UNSEEN.test(char) && !font.hasGlyphForCodePoint(code);
    const glyph = isLeftOut ? undefined : font.glyphForCodePoint(code);
    if (glyphs.size >= MOST_GLYPHS) glyphs.clear();
    glyphs.set(char, glyph);
    return glyph;
  }

  function maskOf(glyph: Glyph, size: number, part: number): Mask {
    const key = `${glyph.id} ${size} ${part}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const scale = size / unitsPerEm;
    const pen = createPen(Math.ceil(glyph.advanceWidth * scale) + 2 * MARGIN + 1, Math.ceil(size * 1.4), {
      x: MARGIN + part / PARTS,
      y: size,
      scale,
    });
    glyph.path.commands.forEach(pen.follow);
    const mask = pen.fill();
    known.set(key, mask);
    return mask;
  }

  function set(text: string, size: number, onLetter?: (mask: Mask, left: number) => void): number {
    let left = 0;
    for (const char of text.normalize('NFC')) {
      const glyph = glyphOf(char);
      if (glyph === undefined) continue;
      const parts = Math.round(left * PARTS);
      onLetter?.(maskOf(glyph, size, parts % PARTS), Math.floor(parts / PARTS));
      left += (glyph.advanceWidth * size) / unitsPerEm;
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
