import type { Account } from '../../src/records/accounts.ts';
import type { RememberedIntegration } from '../../src/records/integrations.ts';
import type { Digest, InvoiceNotices, Watch } from '../../src/records/schedules.ts';
import type { Run } from '../../src/records/test-runs.ts';

/** A record of each kind that views show; tests give what they are about. Times are 0. */

export const KEY: Account = {
  name: 'acme',
  email: 'ann@acme.example',
  sealedKey: '',
  keyTail: '1f2e',
  state: 'ok',
  purpose: 'shared',
  createdBy: 'U0ANN',
  createdAt: 0,
};

export const RUN: Run = {
  target: { account: 'acme', project: { permalink: 'storefront', name: 'Storefront' } },
  id: 'run 1',
  requestId: 'r1',
  startedAt: 0,
  status: 'completed',
  threads: true,
  layout: 'compact',
};

export const DIGEST: Digest = {
  kind: 'digest',
  id: 'd7k2',
  requestId: 'r1',
  channel: 'C1',
  cadence: { kind: 'daily', time: '09:00' },
  zone: 'UTC',
  range: 'this_week',
  skipQuiet: false,
  createdBy: 'U1',
  createdAt: 0,
  state: { kind: 'active' },
};

export const WATCH: Watch = {
  kind: 'watch',
  id: 'w7k2',
  channel: 'C1',
  account: 'acme',
  requestId: 'r1',
  mode: 'all',
  createdBy: 'U1',
  createdAt: 0,
  state: { kind: 'active' },
};

export const NOTICES: InvoiceNotices = {
  kind: 'invoices',
  id: 'C1 acme',
  channel: 'C1',
  account: 'acme',
  requestId: 'r1',
  createdBy: 'U1',
  createdAt: 0,
  state: { kind: 'active' },
};

export const INTEGRATION: RememberedIntegration = {
  id: 'k3m9x',
  hookType: 'http_req',
  name: 'Hook',
  account: 'acme',
  project: { permalink: 'storefront', name: 'Storefront' },
  flags: [],
  savedAt: 0,
};
