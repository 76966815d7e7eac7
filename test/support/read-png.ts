import { inflateSync } from 'node:zlib';

export interface ReadPng {
  width: number;
  height: number;
  /** As a reader of the format sees it, e.g. `#12967a`. */
  colorAt(x: number, y: number): string;
}

/** Of red, green, blue and transparency. */
const BYTES = 4;

/** A PNG of eight bits a colour with transparency, not interlaced, as resvg writes it. */
export function readPng(png: Buffer): ReadPng {
  if (png.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('no PNG');
  const chunks: Array<{ name: string; data: Buffer }> = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.push({
      name: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + png.readUInt32BE(at)),
    });
  const named = (name: string) =>
    Buffer.concat(chunks.filter((chunk) => chunk.name === name).map(({ data }) => data));
  const header = named('IHDR');
  if (header.toString('hex', 8) !== '0806000000') throw new Error('another kind of PNG');
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const pixels = unfiltered(inflateSync(named('IDAT')), width * BYTES);
  return {
    width,
    height,
    colorAt(x, y) {
      const at = (y * width + x) * BYTES;
      return `#${pixels.toString('hex', at, at + 3)}`;
    },
  };
}

/** @param length of a line in bytes, without the byte before it that names its filter */
function unfiltered(lines: Buffer, length: number): Buffer {
  const pixels = Buffer.alloc((lines.length / (length + 1)) * length);
  for (let at = 0; at < pixels.length; at += 1) {
    const line = Math.floor(at / length);
    const column = at % length;
    const left = column < BYTES ? 0 : (pixels[at - BYTES] ?? 0);
    const up = pixels[at - length] ?? 0;
    const upLeft = column < BYTES ? 0 : (pixels[at - length - BYTES] ?? 0);
    const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, upLeft)];
    const guess = guesses[lines[line * (length + 1)] ?? 0] ?? 0;
    pixels[at] = (lines[line * (length + 1) + 1 + column] ?? 0) + guess;
  }
  return pixels;
}

function paeth(left: number, up: number, upLeft: number): number {
  const all = [left, up, upLeft];
  const distances = all.map((each) => Math.abs(left + up - upLeft - each));
  return all[distances.indexOf(Math.min(...distances))] ?? 0;
}
