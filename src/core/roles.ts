/** The roles that are given to people; everyone else of the workspace is a member. */
export const GIVEN_ROLES = ['admin', 'operator', 'billing'] as const;

export type GivenRole = (typeof GIVEN_ROLES)[number];

export type Role = 'member' | GivenRole;
