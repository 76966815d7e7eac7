import { expect, it } from 'vitest';
import { chartSvg } from '../../src/views/activity/chart-svg.ts';
import { daysBetween } from '../../src/views/blocks/days.ts';
import { createDrawPng } from '../../src/workspace/png.ts';
import { readPng } from '../support/read-png.ts';

const drawPng = createDrawPng();

function week(title: string): string {
  const days = daysBetween('2026-11-14', '2026-11-20');
  const bars = days.map((day) => ({ day, succeeded: 4, failed: 4, cancelled: 4 }));
  return chartSvg({ title, zone: 'UTC', isTruncated: false, bars });
}

async function draw(svg: string): Promise<ReturnType<typeof readPng>> {
  return readPng(Buffer.from(await drawPng(svg)));
}

const drawn = await draw(week('acme'));

it('is a PNG, wide and sharp enough for Slack, on a light ground', () => {
  expect([drawn.width, drawn.height]).toEqual([1000, 560]);
  expect(drawn.colorAt(2, 2)).toBe('#ffffff');
});

it('shows a bar of each outcome with a pattern, which needs no eye for colour', () => {
  const colors = new Set(Array.from({ length: 310 }, (_, y) => drawn.colorAt(147, 145 + y)));
  for (const color of ['#12967a', '#c8414f', '#e9b3b9', '#b9bec9']) expect(colors).toContain(color);
});

it('has letters without any font of the machine, and of both weights', async () => {
  const inked = async (title: string) => {
    const png = await draw(week(title));
    const points = Array.from({ length: 300 * 24 }, (_, at) => [41 + (at % 300), 72 + Math.floor(at / 300)]);
    return points.filter(([x = 0, y = 0]) => png.colorAt(x, y) !== '#ffffff').length;
  };
  expect(await inked('MMMMMMMMMM')).toBeGreaterThan((await inked('iiiiiiiiii')) * 2);
  const heading = Array.from({ length: 280 * 30 }, (_, at) =>
    drawn.colorAt(41 + (at % 280), 32 + Math.floor(at / 280)),
  );
  expect(heading).toContain('#1d1c1d');
});

it('draws any number at the same time, each its own', async () => {
  const pictures = await Promise.all(['acme', 'acme', 'globex'].map((title) => drawPng(week(title))));
  expect(new Set(pictures.map((png) => Buffer.from(png).toString('base64'))).size).toBe(2);
});

it('rejects what is no SVG, and draws the next', async () => {
  await expect(drawPng('<svg')).rejects.toThrow();
  expect((await draw(week('acme'))).width).toBe(1000);
});
