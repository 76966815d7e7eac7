import process from 'node:process';
import { isPostgres } from '../../src/store/open-store.ts';
import { sayListening } from '../support/processes.ts';
import type { Subject } from './subject.ts';
import { openDeckhand } from './subject-deckhand.ts';
import { openPostgresByHand } from './subject-postgres.ts';
import { openSqliteByHand } from './subject-sqlite.ts';

// One replica. What is asked of it follows in this order: open, then fill or run, and told as often as need be, close.

export type Operation = 'get' | 'put' | 'update' | 'send';
export type StoreAsked =
  | { kind: 'open'; url: string; by: 'deckhand' | 'hand'; works: boolean }
  | { kind: 'fill'; workspaces: number }
  | { kind: 'run'; operation: Operation; workspaces: number; count: number; concurrency: number }
  | { kind: 'told' }
  | { kind: 'close' };

export interface StoreTold {
  /** Of the operations that were run, milliseconds since the epoch. */
  startedAt: number;
  endedAt: number;
  /** Jobs handled since it was opened, and when the last one was. */
  handled: number;
  handledAt: number;
}

const FILLED_AT_ONCE = 10;

let subject: Subject | undefined;
let told: StoreTold = { startedAt: 0, endedAt: 0, handled: 0, handledAt: 0 };

function open(url: string, by: 'deckhand' | 'hand'): Promise<Subject> | Subject {
  if (by === 'deckhand') return openDeckhand(url);
  return isPostgres(url) ? openPostgresByHand(url) : openSqliteByHand(url);
}

/** Each worker strides over all workspaces, and none over another's at the same time. */
async function run(asked: StoreAsked & { kind: 'run' }, to: Subject): Promise<void> {
  const { operation, workspaces, count, concurrency } = asked;
  let next = 0;
  async function work(): Promise<void> {
    while (next < count) {
      next += 1;
      await to[operation](`T${(next * 7919) % workspaces}`);
    }
  }
  told = { ...told, startedAt: Date.now() };
  await Promise.all(Array.from({ length: concurrency }, work));
  told = { ...told, endedAt: Date.now() };
}

async function fill(workspaces: number, to: Subject): Promise<void> {
  const names = Array.from({ length: workspaces }, (_, at) => `T${at}`);
  const slices = Array.from({ length: FILLED_AT_ONCE }, (_, slice) =>
    names.filter((_, at) => at % FILLED_AT_ONCE === slice),
  );
  await Promise.all(slices.map((slice) => to.fill(slice)));
}

async function answer(asked: StoreAsked): Promise<void> {
  switch (asked.kind) {
    case 'open':
      subject = await open(asked.url, asked.by);
      told = { startedAt: 0, endedAt: 0, handled: 0, handledAt: 0 };
      if (asked.works)
        await subject.work(() => {
          told = { ...told, handled: told.handled + 1, handledAt: Date.now() };
        });
      break;
    case 'fill':
      if (subject !== undefined) await fill(asked.workspaces, subject);
      break;
    case 'run':
      if (subject !== undefined) await run(asked, subject);
      break;
    case 'told':
      break;
    case 'close':
      await subject?.close();
      subject = undefined;
  }
  process.send?.(told);
}

process.on('message', (asked: StoreAsked) => void answer(asked));
process.on('SIGTERM', () => process.exit(0));
sayListening(0);
