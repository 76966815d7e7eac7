/**
 * Which fields of which record may come otherwise. `spec` holds what the specification leaves open: records and
 * fields that it does not show. `wild` holds what it fixes, and what services of this kind send all the same.
 * Identifiers, names and states are never touched here: without them a record means nothing.
 */
export type Change = 'absent' | 'null' | 'text' | 'number' | 'notify';

export interface FieldRule {
  spec?: readonly Change[];
  wild?: readonly Change[];
}

export type RecordKind =
  | 'project'
  | 'server'
  | 'static_hosting'
  | 'managed_vps'
  | 'build_configuration'
  | 'build_server'
  | 'hosted_resource'
  | 'region'
  | 'size'
  | 'test_run'
  | 'test_result'
  | 'integration'
  | 'event'
  | 'event_properties'
  | 'statistics'
  | 'invoice'
  | 'deployment'
  | 'revision'
  | 'deployed_server'
  | 'step'
  | 'log_entry'
  | 'waiting'
  | 'profile'
  | 'profile_account'
  | 'new_account';

interface RecordRule {
  fields: Record<string, FieldRule>;
  /** Whether the specification leaves room for more fields. */
  open: boolean;
}

const FREE: FieldRule = { spec: ['absent', 'null'] };
const LEFT_OUT: FieldRule = { wild: ['absent', 'null'] };
const MAY_LACK: FieldRule = { wild: ['absent'] };
const FIGURE: FieldRule = { wild: ['absent', 'text'] };

function each(names: readonly string[], rule: FieldRule): Record<string, FieldRule> {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

const OF_SERVER = [
  'server_path',
  'last_revision',
  'preferred_branch',
  'server_group_identifier',
  'hostname',
  'username',
  'use_ssh_keys',
  'host_key',
];

export const RULES: Record<RecordKind, RecordRule> = {
  // Spec 4.11: its response shape is not shown.
  project: {
    open: true,
    fields: {
      ...each(['public_key', 'repository', 'repository_url', 'zone', 'last_deployed_at', 'starred'], FREE),
      auto_deploy_url: { spec: ['absent'] },
      identifier: MAY_LACK,
    },
  },
  // Spec 2.5 shows three fields and the managed blocks; the rest of a full server record is not shown.
  server: {
    open: true,
    fields: {
      ...each([...OF_SERVER, 'enabled'], FREE),
      port: { spec: ['absent', 'null', 'text'] },
      notify_email: { spec: ['notify'] },
    },
  },
  static_hosting: {
    open: false,
    fields: each(['hosted_website_identifier', 'subdomain', 'url', 'spa_mode'], LEFT_OUT),
  },
  managed_vps: { open: false, fields: each(['hosted_resource_identifier', 'region', 'size'], LEFT_OUT) },
  build_configuration: { open: false, fields: each(['default'], LEFT_OUT) },
  build_server: {
    open: false,
    fields: {
      ...each(OF_SERVER, LEFT_OUT),
      server_group_identifier: { spec: ['null'], wild: ['absent'] },
      port: { wild: ['absent', 'null', 'text'] },
      notify_email: { wild: ['notify'] },
    },
  },
  hosted_resource: {
    open: false,
    fields: {
      ...each(['region', 'size', 'ip_address', 'ssh_key', 'created_at', 'updated_at'], LEFT_OUT),
      monthly_cost: { wild: ['absent', 'null', 'text'] },
    },
  },
  region: { open: false, fields: { name: MAY_LACK } },
  size: { open: false, fields: { label: MAY_LACK, currency: MAY_LACK, monthly_cost: { wild: ['text'] } } },
  test_run: { open: false, fields: each(['created_at'], LEFT_OUT) },
  test_result: { open: false, fields: each(['message'], MAY_LACK) },
  integration: {
    open: false,
    fields: each(
      ['hook_type', 'send_on_start', 'send_on_completion', 'send_on_failure', 'created_at', 'updated_at'],
      LEFT_OUT,
    ),
  },
  event: { open: false, fields: each(['user'], LEFT_OUT) },
  // Spec 2.11 gives examples only.
  event_properties: { open: true, fields: each(['end_ref', 'servers'], { spec: ['absent'] }) },
  statistics: {
    open: false,
    fields: {
      ...each(['total_deployments_delta', 'success_rate_delta', 'avg_duration', 'active_servers'], MAY_LACK),
      total_deployments: FIGURE,
      success_rate: FIGURE,
    },
  },
  invoice: {
    open: false,
    fields: {
      ...each(['kind', 'paid_at', 'download_url'], LEFT_OUT),
      number: { wild: ['text'] },
      total: { wild: ['number'] },
      vat: { wild: ['absent', 'null', 'number'] },
    },
  },
  // Not in the specification: all fields may be missing or null.
  deployment: {
    open: true,
    fields: each(['deployer', 'branch', 'start_revision', 'servers', 'timestamps', 'overview'], LEFT_OUT),
  },
  revision: {
    open: true,
    fields: each(['author', 'email', 'timestamp', 'message', 'short_message', 'tags'], LEFT_OUT),
  },
  deployed_server: {
    open: true,
    fields: each(
      ['environment', 'enabled', 'connection_checked_at', 'connection_error_message', 'last_revision'],
      LEFT_OUT,
    ),
  },
  step: {
    open: true,
    fields: each(
      ['step', 'stage', 'server', 'description', 'logs', 'total_items', 'completed_items', 'updated_at'],
      LEFT_OUT,
    ),
  },
  log_entry: { open: true, fields: each(['step', 'detail', 'type'], LEFT_OUT) },
  waiting: {
    open: true,
    fields: each(
      ['latest_deployed_revision', 'current_revision', 'last_checked_at', 'check_fail_message', 'commits'],
      LEFT_OUT,
    ),
  },
  profile: { open: false, fields: each(['first_name', 'last_name'], LEFT_OUT) },
  profile_account: {
    open: false,
    fields: each(['static_hosting_eligible', 'managed_vps_eligible'], MAY_LACK),
  },
  new_account: { open: false, fields: each(['mcp_config', 'oauth_urls', 'ssh_public_key'], LEFT_OUT) },
};
