import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { expect, it, onTestFinished } from 'vitest';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { startDeckhand } from '../support/deckhand-process.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  ACCOUNT,
  addTestAccount,
  CHANNEL,
  connectAccount,
  environment,
  furnish,
  PEOPLE,
  TEAM,
} from '../support/test-world.ts';

/** Deckhand's bundle in a channel with a digest to preview. */
async function start() {
  const [service, slack] = await Promise.all([startSimulatedService({ speed: 20 }), startSlack()]);
  onTestFinished(async () => {
    await Promise.all([slack.stop(), service.stop()]);
  });
  const { botToken } = furnish(slack);
  addTestAccount(service, undefined);
  const env = environment(slack, service, botToken, await temporaryFolder());
  const deckhand = await startDeckhand(env);
  slack.deliverTo(`${deckhand.origin}/slack/events`);
  await connectAccount(slack);
  slack.invite(TEAM, CHANNEL, 'bot');
  service.world.addDeployment({
    account: ACCOUNT,
    project: 'storefront',
    succeeded: true,
    endedAt: Date.now() - 1000,
  });
  const admin = slack.as(TEAM, PEOPLE.admin);
  await admin.command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
  await slack.until(() => JSON.stringify(slack.messages(TEAM, CHANNEL)).includes('09:00'));
  const drawn = () => slack.files(TEAM).filter(({ mimetype }) => mimetype === 'image/png').length;
  async function preview(): Promise<void> {
    const before = drawn();
    await admin.command(CHANNEL, '/deckhand digest preview');
    await slack.until(() => drawn() > before, { what: 'a picture' });
  }
  return { deckhand, preview };
}

/** The state and the parent of a process; undefined once there is none. */
function statusOf(pid: number): { state: string | undefined; parent: number } | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function childrenOf(parent: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Boolean);
  return all.filter((pid) => statusOf(pid)?.parent === parent);
}

it('draws in a process that knows no secret, outlasts what ends both, is replaced after its crash, and leaves none behind', async () => {
  const { deckhand, preview } = await start();
  expect(childrenOf(deckhand.pid)).toEqual([]);
  await preview();
  const [first = 0, ...others] = childrenOf(deckhand.pid);
  expect(others).toEqual([]);
  const known = readFileSync(`/proc/${first}/environ`, 'utf8')
    .split('\0')
    .map((each) => each.split('=')[0]);
  expect(known.filter((name) => name && !name.startsWith('NODE_'))).toEqual([]);

  process.kill(first, 'SIGTERM');
  await preview();
  expect(childrenOf(deckhand.pid)).toEqual([first]);

  process.kill(first, 'SIGKILL');
  await expect.poll(() => childrenOf(deckhand.pid)).toEqual([]);
  await preview();
  const [drawing = 0, ...more] = childrenOf(deckhand.pid);
  expect(more).toEqual([]);
  expect(deckhand.errors).toEqual([]);

  expect(statusOf(drawing)).toBeDefined();
  deckhand.signal('SIGKILL');
  await deckhand.ended;
  // What ended without a parent is a zombie where the first process of the machine collects none.
  await expect.poll(() => statusOf(drawing)?.state ?? 'Z').toBe('Z');
});
