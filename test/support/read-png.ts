import { inflateSync } from 'node:zlib';

export interface ReadPng {
  width: number;
  height: number;
  /** As a reader of the format sees it, e.g. `#12967a`. */
  colorAt(x: number, y: number): string;
}

/** A PNG with a palette, eight bits an index and unfiltered lines, as Deckhand writes it. */
export function readPng(png: Buffer): ReadPng {
  if (png.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') throw new Error('no PNG');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const [header, palette, data] = ['IHDR', 'PLTE', 'IDAT'].map((name) => chunks.get(name) ?? Buffer.of());
  if (header?.toString('hex', 8) !== '0803000000') throw new Error('another kind of PNG');
  const width = header.readUInt32BE(0);
  const lines = inflateSync(data ?? Buffer.of());
  return {
    width,
    height: header.readUInt32BE(4),
    colorAt(x, y) {
      const index = lines[y * (width + 1) + 1 + x] ?? 0;
      return `#${palette?.toString('hex', index * 3, index * 3 + 3)}`;
    },
  };
}
