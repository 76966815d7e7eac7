import type { z } from 'zod';
import type { NewProject } from '../world/inputs.ts';
import { DEMO_IDS } from './demo-facts.ts';

type Project = z.input<typeof NewProject>;

/** Seven servers, of which one does not answer. */
const storefront: Project = {
  name: 'Storefront',
  starred: true,
  zone: 'eu-west',
  servers: [
    { name: 'web-1', hostname: 'web-1.acme.example.net' },
    { name: 'web-2', hostname: 'web-2.acme.example.net' },
    {
      name: 'web-3',
      hostname: 'web-3.acme.example.net',
      outcome: {
        status: 'error',
        message: 'Connection to web-3.acme.example.net:22 timed out after 20 seconds. Is the firewall open?',
        durationMs: 2_600,
      },
    },
    { name: 'worker-1', serverPath: '/srv/worker' },
    { name: 'worker-2', serverPath: '/srv/worker' },
    { name: 'assets', protocolType: 'ftps', port: 21, username: 'assets', useSshKeys: false },
    { name: 'staging', preferredBranch: 'develop', notifyEmail: true },
  ],
  buildConfigurations: [
    {
      identifier: DEMO_IDS.storefrontBuild,
      packages: { node: '24', php: '8.4', composer: '2.9' },
      servers: ['web-1', 'web-2', 'web-3'],
    },
  ],
  integrations: [
    {
      identifier: DEMO_IDS.storefrontChat,
      hookType: 'chat_c',
      name: 'Release room',
      sendOnCompletion: true,
      sendOnFailure: true,
      properties: { url: 'https://chat.example.com/hooks/storefront' },
    },
    {
      identifier: DEMO_IDS.storefrontErrors,
      hookType: 'error_tracker_c',
      name: 'Error tracker',
      sendOnCompletion: true,
      properties: {
        hook_version: 'cloud',
        project: 'storefront',
        environment: 'production',
        token: 'demo',
        organization_slug: 'acme',
      },
    },
  ],
};

const billingApi: Project = {
  name: 'Billing API',
  permalink: 'billing-api',
  zone: 'eu-west',
  branch: 'stable',
  servers: [{ name: 'api-1' }, { name: 'api-2' }, { name: 'reports', protocolType: 'managed_vps' }],
  buildConfigurations: [
    { identifier: DEMO_IDS.billingBuild, packages: { go: '1.26' }, servers: ['api-1', 'api-2'] },
  ],
  integrations: [
    {
      identifier: DEMO_IDS.billingHook,
      name: 'Ledger webhook',
      sendOnFailure: true,
      properties: { url: 'https://ledger.example.com/hooks/deployments' },
    },
  ],
};

const docsSite: Project = {
  name: 'Docs site',
  permalink: 'docs-site',
  zone: 'eu-west',
  servers: [{ name: 'docs', protocolType: 'static_hosting', serverPath: '/' }],
};

export const ACME_PROJECTS = [storefront, billingApi, docsSite];

export const GLOBEX_PROJECTS: Project[] = [
  { name: 'Website', zone: 'us-east', servers: [{ name: 'live' }, { name: 'preview' }] },
];
