import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { createMachineClock } from '../process/machine-clock.ts';
import { createProduct } from '../support/program.ts';
import type { Balancer } from './balancer.ts';

/** Deckhand as a process under a supervisor: what ends is started again. */
export interface Replica {
  /** True while it has the port and nobody has ended it. */
  readonly isUp: boolean;
  /** How far its clock is from the true time, in milliseconds. */
  readonly errorMs: number;
  start(): Promise<void>;
  /** `kill -9`, and after a while a start. */
  kill(downMs: number): Promise<void>;
  /** SIGTERM, and after a while a start. */
  restart(downMs: number): Promise<void>;
  /** @param aheadMs how far the true time is from this machine's */
  setClock(aheadMs: number, errorMs: number): void;
  /** What `/readyz` says; nothing where nobody does. One that is gone unasked is started again. */
  look(): Promise<string>;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  env: Record<string, string>;
  balancer: Balancer;
  clockFile: string;
  onLine: (line: string) => void;
  /** Told of each end of the process, with the time by this machine. */
  onEnd: (how: Ending, at: number) => void;
}

/** `crashed`: nobody had asked for it. */
export type Ending = 'killed' | 'stopped' | 'crashed';

const START_AGAIN_MS = 500;
const MAX_LOOK_MS = 20_000;

export function createReplica({ env, balancer, clockFile, onLine, onEnd }: ReplicaOptions): Replica {
  const clock = createMachineClock(clockFile);
  const product = createProduct({ ...env, ...clock.env }, onLine);
  let port: number | undefined;
  let errorMs = 0;
  let isWanted = true;

  async function start(): Promise<void> {
    while (isWanted && port === undefined) {
      port = await product.start().catch(() => undefined);
      if (port === undefined) await wait(START_AGAIN_MS);
      else balancer.add(port);
    }
  }

  async function end(how: Ending): Promise<void> {
    const was = port;
    port = undefined;
    await (how === 'killed' ? product.kill() : product.stop());
    // Which the balancer learns only now: what reaches a process that ends is refused.
    if (was !== undefined) balancer.remove(was);
    onEnd(how, Date.now());
  }

  return {
    get isUp() {
      return port !== undefined;
    },
    get errorMs() {
      return errorMs;
    },
    start,
    async kill(downMs) {
      await end('killed');
      await wait(downMs);
      await start();
    },
    async restart(downMs) {
      await end('stopped');
      await wait(downMs);
      await start();
    },
    setClock(aheadMs, error) {
      errorMs = error;
      clock.set(aheadMs + error);
    },
    async look() {
      const asked = port;
      if (asked === undefined) return '';
      try {
        const { body } = await request(`http://127.0.0.1:${asked}/readyz`, {
          headersTimeout: MAX_LOOK_MS,
        });
        return await body.text();
      } catch (error) {
        const isGone = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
        if (!isGone || port !== asked) return '';
        await end('crashed');
        await start();
        return '';
      }
    },
    async stop() {
      isWanted = false;
      await end('stopped');
    },
  };
}
