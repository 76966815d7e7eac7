import type { ChildProcess } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { afterAll, expect, it } from 'vitest';
import { drawDeployments } from '../../src/pictures/picture.ts';
import { createPictures } from '../../src/pictures/pictures.ts';

const DATA = {
  title: 'acme, today',
  zone: 'UTC',
  bars: [{ day: '2026-03-02', succeeded: 3, failed: 1, cancelled: 0 }],
  isCut: false,
};

function nextProcess(): Promise<ChildProcess> {
  const starts = channel('child_process');
  return new Promise((resolve) => {
    starts.subscribe(function onStart(message) {
      starts.unsubscribe(onStart);
      resolve((message as { process: ChildProcess }).process);
    });
  });
}

const pictures = createPictures();
afterAll(() => pictures.close());

it('draws in its process what is drawn here, for several at once', async () => {
  const others = { ...DATA, title: 'beacon, today' };
  const drawn = await Promise.all([pictures.draw(DATA), pictures.draw(others)]);
  const expected = [drawDeployments(DATA), drawDeployments(others)];
  expect(drawn.map((png) => Buffer.from(png).equals(expected[drawn.indexOf(png)] ?? Buffer.of()))).toEqual([
    true,
    true,
  ]);
});

it('tells what cannot be drawn, and draws the next', async () => {
  await expect(pictures.draw({ ...DATA, bars: undefined as never })).rejects.toThrow('could not be drawn');
  expect((await pictures.draw(DATA)).length).toBeGreaterThan(1000);
});

it('leaves nobody waiting when it is closed or its process crashes, and draws again after that', async () => {
  const closed = pictures.draw(DATA);
  pictures.close();
  await expect(closed).rejects.toThrow('the process of pictures ended: closed');
  const [started, crashed] = [nextProcess(), pictures.draw(DATA)];
  (await started).kill('SIGKILL');
  await expect(crashed).rejects.toThrow('the process of pictures ended: SIGKILL');
  expect((await pictures.draw(DATA)).length).toBeGreaterThan(1000);
});

it('gives its memory back when no picture was asked for in a while, and draws again after that', async () => {
  const resting = createPictures(1);
  const started = nextProcess();
  expect((await resting.draw(DATA)).length).toBeGreaterThan(1000);
  await once(await started, 'exit');
  expect((await resting.draw(DATA)).length).toBeGreaterThan(1000);
  resting.close();
});
