type Color = readonly [red: number, green: number, blue: number];

/** What the pixels of a picture are indexes into. What stands later is painted over what stands before. */
export const palette: Color[] = [];

/** Shades from white to an ink, which keep the edges of letters and lines smooth. */
export const SHADES = 8;

export const WHITE = add([255, 255, 255]);
export const GRID = add([236, 236, 238]);
export const AXIS = add([181, 181, 186]);
export const GREEN = add([18, 150, 122]);
export const RED = add([200, 65, 79]);
export const PALE_RED = add([216, 122, 132]);
export const PALEST_RED = add([233, 179, 185]);
export const GRAY = add([185, 190, 201]);
export const DARK_GRAY = add([147, 152, 164]);
export const DARKEST_GRAY = add([108, 114, 127]);
export const INK = addShades([29, 28, 29]);
export const SOFT_INK = addShades([97, 96, 97]);
export const RED_INK = addShades([168, 50, 63]);
export const BLUE_INK = addShades([43, 95, 217]);

function add(color: Color): number {
  return palette.push(color) - 1;
}

/** The index before the first shade, so that an ink and a shade from 1 on make an index. */
function addShades([red, green, blue]: Color): number {
  const before = palette.length - 1;
  for (let shade = 1; shade <= SHADES; shade += 1) {
    const mixed = (part: number) => Math.round(255 + ((part - 255) * shade) / SHADES);
    add([mixed(red), mixed(green), mixed(blue)]);
  }
  return before;
}
