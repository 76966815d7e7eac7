import { expect, it } from 'vitest';
import { type Heard, readSettled } from '../../../slack/web/src/state/read-settled.ts';

it('an answer that the stream overtook is asked for again, and never shown', async () => {
  const heard: Heard = new Map();
  const applied: string[] = [];
  const answers = ['no form', 'a form'];
  await readSettled(
    heard,
    ['views'],
    async () => {
      const answer = answers.shift() ?? '';
      if (answer === 'no form') heard.set('views', 1);
      return answer;
    },
    (answer) => applied.push(answer),
  );
  expect(applied).toEqual(['a form']);
});

it('events of other kinds, however many, overtake nothing', async () => {
  const heard: Heard = new Map();
  let reads = 0;
  await readSettled(
    heard,
    ['views'],
    async () => {
      reads += 1;
      heard.set('call', reads);
    },
    () => undefined,
  );
  expect(reads).toBe(1);
});
