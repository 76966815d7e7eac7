import { CONFIG_EXIT_CODE, TEMPORARY_EXIT_CODE } from './config.ts';
import { ListenError } from './listeners/receivers/http-server.ts';
import { databaseFault } from './store/database-fault.ts';
import { SealError, StoreError } from './store/store.ts';

export interface StartFault {
  /** With the path or port, and what to do. */
  sentence: string;
  exitCode: number;
}

/** Why Deckhand could not start, where the operator can fix it or wait; undefined for a bug. */
export function startFault(error: unknown, storeUrl: string): StartFault | undefined {
  if (error instanceof SealError) return { sentence: error.message, exitCode: CONFIG_EXIT_CODE };
  const said = error instanceof ListenError ? error : storeFault(error, storeUrl);
  if (said === undefined) return undefined;
  return { sentence: said.message, exitCode: said.isTemporary ? TEMPORARY_EXIT_CODE : CONFIG_EXIT_CODE };
}

/** A database may also fail after it was opened, with what it says then among the causes. */
function storeFault(error: unknown, storeUrl: string): StoreError | undefined {
  if (error instanceof StoreError && error.code === 'store_error') return error;
  return databaseFault(storeUrl, error) ?? (error instanceof StoreError ? error : undefined);
}
