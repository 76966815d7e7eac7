import { createWriteStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ChaosResult, runChaos } from './chaos.ts';

type Print = (line: string) => void;

const STORES = ['sqlite', 'postgres'] as const;

/**
 * `npm run chaos -- [sqlite] [postgres] [--minutes 10] [--seed 7] [--log file]`: everything goes wrong for ten minutes on
 * each store. False where something was lost, doubled or wrong that Deckhand does not count itself.
 */
export async function breakEverything(args: string[], print: Print): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      /** A file for Deckhand's logs. */
      log: { type: 'string' },
    },
    allowPositionals: true,
  });
  const log = values.log === undefined ? undefined : createWriteStream(values.log);
  let isWell = true;
  for (const store of STORES.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    print(`${store}, seed ${values.seed}`);
    const result = await runChaos({
      store,
      seed: Number(values.seed),
      forMs: Number(values.minutes) * 60_000,
      pace: { askMs: 700, happeningMs: 2_000, digests: 6 },
      weather: { pauseMs: 8_000 },
      patienceMs: 180_000,
      onLine: (line) => log?.write(`${line}\n`),
      onNews: (line) => print(`  ${new Date().toISOString().slice(11, 19)} ${line}`),
    });
    isWell = report(result, print) && isWell;
  }
  log?.end();
  return isWell;
}

function report(result: ChaosResult, print: Print): boolean {
  const { counts, dishonest, doubled, endings, events, explained, lost, struck, wrong } = result;
  for (const [name, times] of struck) print(`  ${times} × ${name}`);
  for (const [how, times] of endings) print(`  ${times} processes ${how}`);
  for (const [what, times] of Object.entries(counts)) print(`  ${times} ${what}`);
  print(`  logged: ${[...events].map(([event, times]) => `${event} ${times}`).join(', ')}`);
  for (const line of explained) print(`  within the counted window, ${line}`);
  for (const kind of ['lost', 'doubled', 'wrong'] as const)
    for (const line of result[kind]) print(`  ${kind.toUpperCase()}: ${line}`);
  const beyond = `${lost.length} lost, ${doubled.length} doubled, ${wrong.length} wrong`;
  print(`  ${beyond}; ${explained.length} within the counted window.`);
  print(`  ${dishonest} looks at /readyz said "ready" while the store failed.`);
  return lost.length + doubled.length + wrong.length + dishonest === 0;
}
