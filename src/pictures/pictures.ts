import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';

/**
 * Draws in a thread of its own. A picture takes some tens of milliseconds, in which the main thread could neither
 * acknowledge a request nor record what Slack has just taken.
 */
export interface Pictures {
  /** A PNG of the deployments per day. Rejects where it cannot be drawn. */
  draw(data: DeploymentsData): Promise<Uint8Array>;
  close(): Promise<void>;
}

interface Waiting {
  resolve: (png: Uint8Array) => void;
  reject: (error: Error) => void;
}

/** What holds a painted picture is small for JavaScript and large outside, so its thread has to collect often. */
const HEAP = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 96 };

type Answer = { id: number; png: Uint8Array } | { id: number; fault: string };

/** Beside this file, as a source or as a part of the bundle. */
const WORKER = new URL(`./picture-worker${extname(import.meta.url)}`, import.meta.url);

/** The thread takes more memory than the rest of an idle process, and half a second to start. */
const IDLE_MS = 60_000;

/** Starts its thread with the first picture, and ends it when none was asked for in a while. */
export function createPictures(idleMs = IDLE_MS): Pictures {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function resolveWaiting(answer: Answer): void {
    const caller = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('png' in answer) caller?.resolve(answer.png);
    else caller?.reject(new Error(`a picture could not be drawn: ${answer.fault}`));
    if (waiting.size === 0) idle = setTimeout(rest, idleMs).unref();
  }

  /** A picture that is asked for meanwhile starts another thread. */
  function rest(): void {
    const resting = worker;
    worker = undefined;
    void resting?.terminate();
  }

  /** The next picture starts another thread. */
  function rejectWaiting(ended: Worker, reason: string): void {
    if (worker !== ended) return;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(WORKER, { resourceLimits: HEAP });
    started.on('message', resolveWaiting);
    started.on('error', (error) => rejectWaiting(started, `the thread of pictures failed: ${String(error)}`));
    started.on('exit', () => rejectWaiting(started, 'the thread of pictures ended'));
    // A picture is no reason for the process to stay.
    started.unref();
    return started;
  }

  return {
    draw: (data) =>
      new Promise((resolve, reject) => {
        clearTimeout(idle);
        worker ??= start();
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        worker.postMessage({ id: lastId, data });
      }),
    async close() {
      clearTimeout(idle);
      await worker?.terminate();
    },
  };
}
