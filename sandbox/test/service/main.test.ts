import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';

const WEATHER = ['--weather', 'spec', '--weather-seed', '7'];

test('it starts alone, says where it is and whose keys work, prints links, and stops when asked', async () => {
  const child = spawn(process.execPath, ['sandbox/service/main.ts', '--port', '0', ...WEATHER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (pattern: RegExp) => {
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      const found = pattern.exec(next.value);
      if (found !== null) return found[0];
    }
    throw new Error(`never printed ${pattern}`);
  };
  const origin = await read(/http:\/\/127\.0\.0\.1:\d+/);
  const { email, apiKey } = DEMO_USERS.admin;
  await read(new RegExp(`${email} +${apiKey}`));
  expect(await (await fetch(`${origin}/_control/weather`)).json()).toMatchObject({
    strength: 'spec',
    seed: '7',
  });
  const jane = { email: 'jane@example.com', password: 'correct horse', terms_accepted: true };
  await fetch(`${origin}/api/v1/signup`, { method: 'POST', body: JSON.stringify(jane) });
  expect((await fetch(await read(/http:\S+verify_email\S+/))).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});
