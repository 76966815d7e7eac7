import type { Account } from '../../src/records/accounts.ts';
import type { RecoveryFigures } from '../../src/records/recoveries.ts';
import type { Paused } from '../../src/records/schedules.ts';
import type { Target } from '../../src/records/test-runs.ts';
import type { ActivityEvent, ActivityStats } from '../../src/service/activity.ts';
import type { SkippedRows } from '../../src/service/call.ts';

import type { Invoice } from '../../src/service/invoices.ts';
import type { Profile } from '../../src/service/profile.ts';
import type { Project, TestRun } from '../../src/service/projects.ts';
import type { HostedResource, Server } from '../../src/service/servers.ts';
import { KEY } from '../views/records.ts';
import type { Hand } from './hand.ts';

/** Records as the service and the workspace have them, with foreign texts of a hand's choice. */

export const WORD = '/deckhand';
export const NOW = Date.parse('2026-03-02T09:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const ADA = 'U0ADA';
export const BEN = 'U0BEN';
export const CHANNEL = 'C0DEPLOY';
/** A name in an address is checked before it is stored. */
export const ACCOUNT = 'acme';

export function accountKey(hand: Hand, change: Partial<Account> = {}): Account {
  return { ...KEY, email: hand.text('ada@acme.example'), createdBy: ADA, createdAt: NOW, ...change };
}

export function project(hand: Hand, at = 0): Project {
  return {
    name: hand.text(at === 0 ? 'Storefront' : `Service ${at}`),
    permalink: hand.text(at === 0 ? 'storefront' : `service-${at}`),
    identifier: `p-${at}`,
    last_deployed_at: at === 1 ? null : '2026-03-01T16:20:00Z',
    starred: at === 0,
  };
}

export function place(hand: Hand): Target['project'] {
  return { permalink: hand.text('storefront'), name: hand.text('Storefront') };
}

export function target(hand: Hand): Target {
  return { account: ACCOUNT, project: place(hand) };
}

export function serverTarget(hand: Hand): Target & { server: NonNullable<Target['server']> } {
  return { ...target(hand), server: { identifier: hand.text('a1b2c3'), name: hand.text('web-1') } };
}

const NAMES = ['web-1', 'web-2', 'web-3', 'worker-1', 'worker-2', 'assets', 'staging'];

/** @param failing the names of servers that are unreachable */
export function testRun(hand: Hand, failing: readonly string[], change: Partial<TestRun> = {}): TestRun {
  const result = (name: string, at: number) =>
    failing.includes(name) || (hand.name !== 'usual' && at % 2 === 1)
      ? { status: 'error' as const, message: hand.text('Connection timed out after 10 seconds') }
      : { status: 'ok' as const, message: null };
  const server = (name: string, at: number) => ({
    identifier: `s-${at}`,
    name: hand.text(name),
    ...result(name, at),
  });
  return {
    identifier: 'run-1',
    status: 'completed',
    created_at: null,
    completed_at: null,
    results: {
      repository: result('repository', 0),
      servers: hand.list(NAMES.map(server), (at) => server(`web-${at}`, at)),
    },
    ...change,
  };
}

export function event(hand: Hand, at = 0, kind = 'deploy_completed'): ActivityEvent {
  const { name, permalink, identifier = '' } = project(hand);
  return {
    event: hand.name === 'usual' ? kind : at % 3 === 0 ? 'deploy_failed' : hand.text(kind),
    properties: {
      end_ref: hand.text('4f2a9c1e77b0'),
      servers: hand.list([hand.text('web-1'), hand.text('web-2')], () => hand.text('web-1'), 8),
    },
    project: hand.maybe({ name, permalink, identifier }) ?? null,
    user: hand.text(at % 2 === 0 ? 'Kim Lee' : 'Sam Roe'),
    created_at: new Date(NOW - at * 5 * HOUR).toISOString(),
  };
}

export function events(hand: Hand): ActivityEvent[] {
  const usual = ['deploy_completed', 'deploy_failed', 'deploy_completed', 'server_created', 'deploy_started'];
  return hand.list(
    usual.map((kind, at) => event(hand, at, kind)),
    (at) => event(hand, at),
    100,
  );
}

export function stats(hand: Hand): ActivityStats {
  return {
    total_deployments: hand.maybe(22),
    total_deployments_delta: hand.maybe(4),
    success_rate: hand.maybe(90.9) ?? null,
    success_rate_delta: hand.maybe(-1.25) ?? null,
    avg_duration: hand.text('1m 12s'),
    active_servers: hand.maybe(7),
  };
}

export function recovery(hand: Hand): RecoveryFigures {
  const figures = { failures: 3, medianMs: 38 * MINUTE, longestMs: 2 * HOUR };
  const before = hand.maybe({ ...figures, failures: 5, longestMs: HOUR });
  const since = before === undefined ? NOW : undefined;
  return { ...figures, account: ACCOUNT, name: hand.text('Storefront'), open: 1, before, since };
}

export function profile(hand: Hand, change: Partial<Profile['account']> = {}): Profile {
  return {
    first_name: hand.text('Ada'),
    last_name: hand.text('Byron'),
    email_address: hand.text('ada@acme.example'),
    account: {
      name: hand.text('Acme'),
      permalink: ACCOUNT,
      beta_features: false,
      static_hosting_eligible: true,
      managed_vps_eligible: false,
      suspended: false,
      trialling: false,
      ...change,
    },
  };
}

export function server(hand: Hand, change: Partial<Server> = {}): Server {
  return {
    identifier: hand.text('a1b2c3'),
    name: hand.text('web-1'),
    protocol_type: hand.text('ssh'),
    server_path: hand.text('/var/www/storefront'),
    last_revision: hand.text('4f2a9c1e77b0'),
    preferred_branch: hand.text('main'),
    notify_email: true,
    server_group_identifier: hand.maybe(hand.text('g-7')) ?? null,
    hostname: hand.text('web-1.acme.example'),
    port: hand.text('22'),
    username: hand.text('deploy'),
    use_ssh_keys: true,
    static_hosting: null,
    managed_vps: null,
    host_key: hand.text(`ssh-ed25519 ${'A'.repeat(50)}abcdefghijkl`),
    ...change,
  };
}

export function machine(hand: Hand, status = 'active', change: Partial<Server> = {}): Server {
  return server(hand, {
    protocol_type: 'managed_vps',
    hostname: null,
    managed_vps: {
      hosted_resource_identifier: hand.maybe('r-42') ?? null,
      status: hand.name === 'hostile' ? hand.text(status) : status,
      ip_address: status === 'active' ? hand.text('203.0.113.7') : null,
      region: hand.text('eu-west'),
      size: hand.text('small'),
    },
    ...change,
  });
}

export function site(hand: Hand, status = 'active'): Server {
  return server(hand, {
    protocol_type: 'static_hosting',
    hostname: null,
    static_hosting: {
      hosted_website_identifier: hand.maybe('h-7') ?? null,
      subdomain: hand.text('shop'),
      url: hand.text('https://shop.sites.example.net'),
      spa_mode: true,
      status,
      active_deployment_uuid: hand.maybe('0b1f5a52-3c1e-4a57-9d0b-1d1f3cf5e0aa') ?? null,
    },
  });
}

export function resource(hand: Hand, at = 0): HostedResource {
  return {
    identifier: `r-${at}`,
    name: hand.text(at === 0 ? 'reports' : `box ${at}`),
    kind: 'managed_vps',
    region: hand.text('eu-west'),
    size: hand.text('small'),
    status: at === 1 ? 'provisioning' : 'active',
    ip_address: at === 1 ? null : hand.text('203.0.113.7'),
    monthly_cost: at === 2 ? null : 7.5,
    ssh_key: {
      identifier: 'k-1',
      title: hand.text('Deploy key'),
      public_key: hand.text('ssh-ed25519 AAAAC3Nza deckhand'),
      key_type: hand.text('ED25519'),
      fingerprint: hand.text('SHA256:4vWx'),
    },
    created_at: '2026-02-01T09:00:00Z',
    updated_at: '2026-03-01T09:00:00Z',
  };
}

export function invoice(hand: Hand, number = 1001, change: Partial<Invoice> = {}): Invoice {
  return {
    number,
    kind: hand.text('subscription'),
    currency: 'eur',
    total: hand.name === 'hostile' ? hand.text('') : '49.00',
    vat: '7.82',
    paid: true,
    paid_at: '2026-02-14T09:00:00Z',
    created_at: '2026-02-01T09:00:00Z',
    download_url: null,
    ...change,
  };
}

export function skipped(hand: Hand): SkippedRows[] {
  const one = {
    operation: 'listProjects',
    count: 2,
    reference: '0a1b2c3d',
    reason: hand.text('name: missing'),
  };
  return hand.list([one], () => one, 3);
}

export function paused(hand: Hand, requestedBy?: string): Paused {
  return {
    kind: 'paused',
    cause: requestedBy === undefined ? 'slack' : 'person',
    reason: hand.safe('the channel is archived'),
    at: NOW - HOUR,
    ...(requestedBy === undefined ? {} : { requestedBy }),
  };
}
