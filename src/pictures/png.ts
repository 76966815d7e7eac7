import { crc32, deflateSync } from 'node:zlib';
import type { Bitmap } from './canvas.ts';
import { palette } from './palette.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Higher levels take three times as long for a fifth of the size. */
const LEVEL = 3;

/** A PNG with the palette: half the bytes of four bytes a pixel, in less time. Without transparency. */
export function encodePng(bitmap: Bitmap): Buffer {
  return Buffer.concat([
    SIGNATURE,
    ...chunk('IHDR', headerOf(bitmap)),
    ...chunk('PLTE', Buffer.from(palette.flat())),
    ...chunk('IDAT', deflateSync(bitmap.lines, { level: LEVEL })),
    ...chunk('IEND', Buffer.of()),
  ]);
}

function headerOf({ width, height }: Bitmap): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // Bits an index.
  header[9] = 3; // Colors by palette.
  return header;
}

function chunk(kind: string, data: Buffer): Buffer[] {
  const name = Buffer.from(kind, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, check];
}
