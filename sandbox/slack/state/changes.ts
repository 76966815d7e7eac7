/** Something a person, a test or the page could see has changed. */
export type Change =
  | { type: 'message'; team: string; channel: string; ts: string }
  | { type: 'message_deleted'; team: string; channel: string; ts: string; user?: string }
  | { type: 'views'; team: string; user: string }
  | { type: 'home'; team: string; user: string }
  | { type: 'pane'; team: string; user: string }
  | { type: 'workspace'; team: string }
  | { type: 'file'; team: string; file: string }
  | { type: 'function'; team: string; execution: string }
  | { type: 'delivery'; team: string; id: string }
  | { type: 'call'; team: string; id: string }
  | { type: 'go'; team: string; user: string; to: Sight }
  | { type: 'typed'; team: string; user: string; channel: string; text: string }
  /** Somebody opened the page as this person. */
  | { type: 'looks'; team: string; user: string }
  | { type: 'controls' }
  | { type: 'sockets' };

/** A conversation, with a thread where one is to be seen beside it, or the app's Home. */
export type Sight = 'home' | { channel: string; thread?: string };

interface UntilOptions {
  /** Milliseconds of real time, 10,000 by default. */
  timeoutMs?: number;
  /** What is waited for, for the error when it does not come. */
  what?: string;
}

type Truthy<T> = Exclude<T, false | undefined | null | 0 | ''>;

export interface Changes {
  emit(change: Change): void;
  /** Calls `listener` after each change; the answer ends it. */
  subscribe(listener: (change: Change) => void): () => void;
  /** Resolves with the first truthy answer of `check`, asked at once and after each change. */
  until<T>(check: () => T | Promise<T>, options?: UntilOptions): Promise<Truthy<T>>;
}

export function createChanges(): Changes {
  const listeners = new Set<(change: Change) => void>();
  const subscribe = (listener: (change: Change) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    subscribe,
    emit: (change) => {
      for (const listener of [...listeners]) listener(change);
    },
    until: (check, options) => waitFor(check, subscribe, options),
  };
}

function waitFor<T>(
  check: () => T | Promise<T>,
  subscribe: Changes['subscribe'],
  options: UntilOptions = {},
): Promise<Truthy<T>> {
  const { timeoutMs = 10_000, what = 'the expected change' } = options;
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      unsubscribe();
      settle();
    };
    const timer = setTimeout(
      () => end(() => reject(new Error(`waited ${timeoutMs} ms in vain for ${what}`))),
      timeoutMs,
    );
    const ask = async (): Promise<void> => {
      const answer = await check();
      if (answer) end(() => resolve(answer as Truthy<T>));
    };
    const askSafely = (): void => {
      isDue = false;
      ask().catch((error: unknown) => end(() => reject(error)));
    };
    // Many changes at once are looked at once.
    let isDue = false;
    const unsubscribe = subscribe(() => {
      if (!isDue) setImmediate(askSafely);
      isDue = true;
    });
    askSafely();
  });
}
