import { auth as readBasicAuth } from 'hono/utils/basic-auth';
import { findProject, findUser } from '../world/find.ts';
import type { Project } from '../world/project-records.ts';
import type { Account, Permission, User } from '../world/records.ts';
import type { AccountMiddleware } from './env.ts';
import { forbidden, permissionDenied, recordNotFound, unauthorized } from './failure.ts';

/** Basic authentication and what an account's state forbids, in the order of spec 5.1. */
export const authenticate: AccountMiddleware = async (c, next) => {
  const { account } = c.env;
  const user = userOf(account, c.req.raw);
  if (user === undefined) throw unauthorized();
  if (!account.apiAccess) {
    throw forbidden('api_access_restricted', 'Your plan does not include the API; upgrade to use it.');
  }
  if (account.suspended) throw forbidden('account_suspended', 'The account is suspended.');
  c.set('user', user);
  await next();
};

/** A key works only for its own account, until revoked, and once the e-mail is verified. */
function userOf(account: Account, request: Request): User | undefined {
  const credentials = readBasicAuth(request);
  if (credentials === undefined) return undefined;
  const user = findUser(account, credentials.username);
  if (user?.apiKey === undefined || user.apiKey !== credentials.password) return undefined;
  return user.verified ? user : undefined;
}

/** Lets only users with this permission pass. */
export function permit(permission: Permission): AccountMiddleware {
  return async (c, next) => {
    if (!c.get('user').permissions.includes(permission)) throw permissionDenied(permission);
    await next();
  };
}

/** Lets only billing managers pass. Spec 4.10. */
export const permitBilling: AccountMiddleware = async (c, next) => {
  if (!c.get('user').billing) throw permissionDenied('billing');
  await next();
};

export function canSee(user: User, project: Project): boolean {
  return user.projects === undefined || user.projects.includes(project.permalink);
}

/** Finds the project of the path; one the user may not see is not there. */
export const inProject: AccountMiddleware = async (c, next) => {
  const project = findProject(c.env.account, c.req.param('project') ?? '');
  if (project === undefined || !canSee(c.get('user'), project)) throw recordNotFound();
  c.set('project', project);
  await next();
};
