import type { AccountApp } from '../api/app.ts';
import type { SiteApp } from '../api/site.ts';
import { addActivity } from './activity.ts';
import { addBeta } from './beta.ts';
import { addBrowserPages } from './browser-pages.ts';
import { addBuildConfigurations } from './build-configurations.ts';
import { addDeployments } from './deployments.ts';
import { addHostedResources } from './hosted-resources.ts';
import { addIntegrations } from './integrations.ts';
import { addInvoices } from './invoices.ts';
import { addOauth } from './oauth/index.ts';
import { addProfile } from './profile.ts';
import { addProjects } from './projects.ts';
import { addServers } from './servers.ts';
import { addSignup } from './signup.ts';
import { addTestAccess } from './test-access.ts';

/** Everything on an account's host, in the order of the reference. */
export const accountRoutes: readonly ((app: AccountApp) => void)[] = [
  addProfile,
  addBeta,
  addProjects,
  addServers,
  addTestAccess,
  addBuildConfigurations,
  addDeployments,
  addIntegrations,
  addHostedResources,
  addActivity,
  addInvoices,
];

/** Everything on the service's own host. */
export const siteRoutes: readonly ((app: SiteApp) => void)[] = [addSignup, addOauth, addBrowserPages];
