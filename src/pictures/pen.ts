import type { PathCommand } from 'fontkitten';
import { SHADES } from './palette.ts';

/** How dark each pixel is, line by line: from 0, which is white, to `SHADES`. */
export interface Mask {
  width: number;
  height: number;
  shades: Uint8Array;
}

/** Of a curve; more are not seen in a letter. */
const PARTS = 5;

/**
 * Fills the outline of a letter whose origin is at a point of the mask. Each edge adds to the pixels it crosses how much it
 * covers of them, and the rest to the pixel on their right, so the sum from the left is what is covered.
 */
export function createPen(width: number, height: number, origin: { x: number; y: number; scale: number }) {
  const edges = new Float32Array(width * height);
  let startX = 0;
  let startY = 0;
  let x = 0;
  let y = 0;

  function moveTo(toX: number, toY: number): void {
    x = startX = toX;
    y = startY = toY;
  }

  function lineTo(toX: number, toY: number): void {
    const top = Math.min(y, toY);
    const bottom = Math.max(y, toY);
    const slope = (toX - x) / (toY - y);
    for (let row = Math.max(0, Math.floor(top)); row < Math.min(height, bottom); row += 1) {
      const from = Math.max(row, top);
      const to = Math.min(row + 1, bottom);
      addEdge(row, x + (from - y) * slope, x + (to - y) * slope, y < toY ? to - from : from - to);
    }
    x = toX;
    y = toY;
  }

  /** Within one row, in steps of at most half a pixel. */
  function addEdge(row: number, fromX: number, toX: number, rise: number): void {
    const steps = Math.max(1, Math.ceil(Math.abs(toX - fromX) * 2));
    for (let step = 0.5; step < steps; step += 1) {
      const middle = fromX + ((toX - fromX) * step) / steps;
      const column = Math.min(width - 2, Math.max(0, Math.floor(middle)));
      const at = row * width + column;
      const right = (middle - column) * (rise / steps);
      edges[at] = (edges[at] ?? 0) + rise / steps - right;
      edges[at + 1] = (edges[at + 1] ?? 0) + right;
    }
  }

  function curveTo(overX: number, overY: number, toX: number, toY: number): void {
    const fromX = x;
    const fromY = y;
    for (let part = 1; part <= PARTS; part += 1) {
      const after = part / PARTS;
      const before = 1 - after;
      const [from, over, to] = [before ** 2, 2 * before * after, after ** 2];
      lineTo(from * fromX + over * overX + to * toX, from * fromY + over * overY + to * toY);
    }
  }

  function follow({ command, args }: PathCommand): void {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = args.map((each, at) =>
      at % 2 === 0 ? origin.x + each * origin.scale : origin.y - each * origin.scale,
    );
    if (command === 'moveTo') moveTo(x1, y1);
    else if (command === 'lineTo') lineTo(x1, y1);
    else if (command === 'quadraticCurveTo') curveTo(x1, y1, x2, y2);
    else lineTo(startX, startY);
  }

  function fill(): Mask {
    let covered = 0;
    const shades = Uint8Array.from(edges, (edge, at) => {
      covered = at % width === 0 ? edge : covered + edge;
      return Math.round(Math.min(1, Math.abs(covered)) * SHADES);
    });
    return { width, height, shades };
  }

  return { follow, fill };
}
