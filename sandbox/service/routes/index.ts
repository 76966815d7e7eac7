import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import { addProfile } from './profile.ts';
import { addProjects } from './projects.ts';
import { addTestAccess } from './test-access.ts';

/** Everything on an account's host, in the order of the reference. */
export const accountRoutes: readonly ((app: AccountApp) => void)[] = [addProfile, addProjects, addTestAccess];

/** Everything on the service's own host. */
export const siteRoutes: readonly ((app: SiteApp) => void)[] = [];
