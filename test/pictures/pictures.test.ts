import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { drawDeployments } from '../../src/pictures/picture.ts';
import { createPictures, type Pictures } from '../../src/pictures/pictures.ts';

const DATA = {
  title: 'acme, today',
  zone: 'UTC',
  bars: [{ day: '2026-03-02', succeeded: 3, failed: 1, cancelled: 0 }],
  isCut: false,
};

let pictures: Pictures;
beforeEach(() => {
  pictures = createPictures();
});
afterEach(() => pictures.close());

it('draws in its thread what is drawn here, for several at once', async () => {
  const others = { ...DATA, title: 'beacon, today' };
  const drawn = await Promise.all([pictures.draw(DATA), pictures.draw(others)]);
  const expected = await Promise.all([drawDeployments(DATA), drawDeployments(others)]);
  expect(drawn.map((png) => Buffer.from(png).equals(expected[drawn.indexOf(png)] ?? Buffer.of()))).toEqual([
    true,
    true,
  ]);
});

it('tells what cannot be drawn, and draws the next', async () => {
  await expect(pictures.draw({ ...DATA, bars: undefined as never })).rejects.toThrow('could not be drawn');
  expect((await pictures.draw(DATA)).length).toBeGreaterThan(1000);
});

it('leaves nobody waiting when it is closed, and can be used again', async () => {
  const drawing = pictures.draw(DATA);
  await Promise.all([expect(drawing).rejects.toThrow('ended'), pictures.close()]);
  expect((await pictures.draw(DATA)).length).toBeGreaterThan(1000);
});

it('gives its memory back when no picture was asked for in a while, and draws again after that', async () => {
  const resting = createPictures(1);
  const [[thread]] = await Promise.all([once(process, 'worker'), resting.draw(DATA)]);
  await once(thread, 'exit');
  expect((await resting.draw(DATA)).length).toBeGreaterThan(1000);
  await resting.close();
});
