import { hash } from 'node:crypto';
import { expect } from 'vitest';
import { storedRows } from '../support/stored-text.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import { idIn, posts } from './schedule-acts.ts';
import type { Site } from './site.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A guard runs so long after the hour, by its id. */
const SPREAD_MS = 5 * MINUTE_MS;
/** What is unreachable is tested again then; half a second more, as it is seen a little late that this is planned. */
const AGAIN_MS = 2 * MINUTE_MS + 500;

/** The messages of the outage of this time. */
function rootsOf({ slack }: Site, n: number, words: RegExp) {
  return slack
    .messages(TEAM, CHANNEL)
    .filter(({ text }) => /^(Shop\d+x)[ :]/.exec(text)?.[1] === `Shop${n}x` && words.test(text));
}

const FAILING = /unreachable since|recovered/;
const RECOVERED = /recovered/;

/** Whether it is stored that a guard tests again what was unreachable. */
async function isCheckPlanned({ storeUrl }: Site, id: string): Promise<boolean> {
  const rows = (await storedRows(storeUrl)).split('\n');
  return rows.some((row) => row.includes('guard-checks') && row.includes(id));
}

async function hasRun({ storeUrl }: Site, id: string): Promise<boolean> {
  const rows = (await storedRows(storeUrl)).split('\n');
  // Both databases quote the JSON of a row, each in its own way.
  return rows.some((row) => row.includes(id) && /outcome\W+reachable/.test(row));
}

function setServer({ service }: Site, n: number, status: 'ok' | 'error'): void {
  const server = { account: ACCOUNT, project: `shop${n}x`, server: 'web-1' };
  service.world.setOutcome({ ...server, status, message: 'Connection refused' });
}

async function say(site: Site, line: string, answer: RegExp): Promise<string> {
  const found = () => posts(site, CHANNEL).find((text) => answer.test(text));
  await site.slack.as(TEAM, PEOPLE.admin).command(CHANNEL, `/deckhand ${line}`);
  await site.slack.until(() => found() !== undefined, { what: line });
  return found() ?? '';
}

/** To right before the next run. */
function moveToRun(site: Site, id: string): Promise<void> {
  const delayMs = hash('sha256', id, 'buffer').readUInt32BE() % SPREAD_MS;
  const hour = Math.floor(site.now() / HOUR_MS) + 1;
  return site.moveTo(hour * HOUR_MS + delayMs);
}

/**
 * A run of a guard, of a project of its own each time: the first one of an outage, the one two minutes later that begins
 * the episode, or the one of the next hour that ends it.
 */
function guardRun(run: 'first' | 'confirming' | 'last'): Act {
  const outcomes = new Map<number, number>();
  let current = { n: 0, id: '' };

  async function outcome(site: Site): Promise<number> {
    const { n, id } = current;
    if (run === 'last') return rootsOf(site, n, RECOVERED).length;
    const roots = rootsOf(site, n, FAILING).length;
    return roots === 0 && run === 'first' && (await isCheckPlanned(site, id)) ? 1 : roots;
  }

  return {
    name: `guard's ${run} run`,
    isAlone: true,
    async prepare(site, n) {
      if (n > 0) {
        outcomes.set(current.n, await outcome(site));
        await say(site, `guard remove ${current.id}`, new RegExp(`removed the guard of .*Shop${current.n}x`));
      }
      const card = await say(site, `guard add shop${n}x hourly UTC`, new RegExp(`A guard tests Shop${n}x`));
      current = { n, id: idIn(card) };
      // It tests at once when it is set up.
      await expect.poll(() => hasRun(site, current.id)).toBe(true);
      setServer(site, n, 'error');
      await moveToRun(site, current.id);
      if (run === 'first') return;
      await expect.poll(() => isCheckPlanned(site, current.id)).toBe(true);
      await site.moveTo(site.now() + AGAIN_MS);
      if (run === 'confirming') return;
      await site.slack.until(() => rootsOf(site, n, FAILING).length > 0, { what: 'the message' });
      setServer(site, n, 'ok');
      await moveToRun(site, current.id);
    },
    ask: async () => true,
    seen: async (site, n) => (n === current.n ? outcome(site) : (outcomes.get(n) ?? 0)),
    done: (site, n) => new Set(rootsOf(site, n, FAILING).map(({ client_msg_id: name }) => name)).size,
  };
}

export const GUARD_RUNS = (['first', 'confirming', 'last'] as const).map(guardRun);
