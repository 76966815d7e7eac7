/** Roles that people can be given; everyone else in the workspace is a member. */
export const GIVEN_ROLES = ['admin', 'operator', 'billing'] as const;

export type GivenRole = (typeof GIVEN_ROLES)[number];

export type Role = 'member' | GivenRole;

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type Weekday = (typeof WEEKDAYS)[number];

/** A watch posts all events, failures only, or changes between failing and passing. */
export const WATCH_MODES = ['all', 'failures', 'transitions'] as const;

export type WatchMode = (typeof WATCH_MODES)[number];
