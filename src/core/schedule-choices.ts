export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** What is told: everything, what fails, or only when a project starts failing and when it recovers. */
export const WATCH_MODES = ['all', 'failures', 'transitions'] as const;

export type WatchMode = (typeof WATCH_MODES)[number];
