import { expect, test } from 'vitest';
import { collect, ENGINES, ONCE, started } from './fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a job waits no longer where the clock of the one process is set back, before a restart or while it runs', async () => {
  const site = await ENGINES[0]?.site();
  if (site === undefined) throw new Error('there is no engine');
  const handled = collect();
  const work = () => started(site, (engine) => engine.work('q', handled.handler, ONCE));
  const first = await work();
  await first.engine.send('q', { workspace: 'T1', n: 1 }, { startAfter: site.now() + MINUTE });
  await site.jump(-HOUR);
  await site.advance(2 * MINUTE);
  await handled.given(1);

  await first.engine.send('q', { workspace: 'T1', n: 2 }, { startAfter: site.now() + MINUTE });
  await first.kill();
  await site.jump(-HOUR);
  await work();
  expect(handled.jobs).toHaveLength(1);
  await site.advance(2 * MINUTE);
  await handled.given(2);
});
