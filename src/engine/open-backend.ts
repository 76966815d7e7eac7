import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Engine } from './engine.ts';
import { createLocalEngine } from './local-engine.ts';

/** The store and the engine of one `STORE_URL`. */
export interface Backend {
  store: Store;
  engine: Engine;
  /** After the engine has stopped. */
  close(): Promise<void>;
}

/** Opens both by the address alone: `sqlite://…` for one process, `postgres://…` for any number. */
export async function openBackend(url: string, parts: { clock: Clock; log: Logger }): Promise<Backend> {
  const store = await openStore(url, { clock: parts.clock });
  const engine = createLocalEngine({ store, ...parts });
  return { store, engine, close: () => store.close() };
}
