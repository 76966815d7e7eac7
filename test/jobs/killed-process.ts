import process from 'node:process';
import { z } from 'zod';
import { systemClock } from '../../src/core/clock.ts';
import { openBackend } from '../../src/open.ts';

/** A process that is to be killed: works on jobs that each take a moment, and says what it does, line by line. */
const [, , url = '', jobs = '0'] = process.argv;

function say(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

const NAMED = { queue: 'named', schema: z.object({ name: z.number() }) };

const { engine } = await openBackend(url, { clock: systemClock });
engine.work(NAMED, {
  async run(_, { data: { name } }) {
    await say(`begin ${name}`);
    await say(`end ${name}`);
  },
  options: { concurrency: 12, attempts: 1, backoffMs: 10 },
});
for (let name = 0; name < Number(jobs); name += 1)
  await engine.send('T1', NAMED, { name }, { key: String(name) });
await say('sent');
await engine.start();
