/** What `store-engine` measures: a store and its jobs, ours or the driver by hand. */
export interface Subject {
  /** Documents and jobs that wait a day, of so many workspaces; once a database. */
  fill(workspaces: readonly string[]): Promise<void>;
  get(workspace: string): Promise<unknown>;
  put(workspace: string): Promise<unknown>;
  /** Read, change, write, so that no other writer comes in between. */
  update(workspace: string): Promise<unknown>;
  /** A job that does nothing; handled by any of the processes. */
  send(workspace: string): Promise<unknown>;
  /** Handles jobs from now on, and calls `onHandled` for each. */
  work(onHandled: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface Account {
  name: string;
  email: string;
  sealed: string;
  uses: number;
}

export const ACCOUNT: Account = {
  name: 'acme',
  email: 'ann@example.com',
  sealed: 'k1.'.padEnd(200, 'AbCd'),
  uses: 0,
};

export const DAY_MS = 86_400_000;
/** What a workspace has beside the document that is asked for. */
export const OTHERS = 9;
/** Jobs handled at once. */
export const AT_ONCE = 10;
