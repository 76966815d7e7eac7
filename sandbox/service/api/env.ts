import type { MiddlewareHandler } from 'hono';
import type { Project } from '../world/project-records.ts';
import type { Account, User, World } from '../world/records.ts';

/** What every handler of the service's own host finds. */
export interface SiteEnv {
  Bindings: { world: World; ip: string };
}

/** What every handler of an account's host finds. */
export interface AccountEnv {
  Bindings: {
    world: World;
    account: Account;
    /** The account's address as the caller wrote it. */
    baseUrl: string;
  };
  Variables: {
    user: User;
    /** Only behind `inProject`. */
    project: Project;
  };
}

export type AccountMiddleware = MiddlewareHandler<AccountEnv>;
