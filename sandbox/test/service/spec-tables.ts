/** A field is `name`, `name:type` if it is no string, with `!` if a request needs it and `?` if it may be null. */
const table = (...lines: string[]): Record<string, string> =>
  Object.fromEntries(
    lines
      .flatMap((line) => line.split(' '))
      .map((field) => {
        const [, name = '', type = 'string', mark = ''] = /^([\w.]+)(?::(\w+))?([!?]?)$/.exec(field) ?? [];
        return [name, (type === 'uuid' ? 'uuid-like string' : type) + mark];
      }),
  );

/**
 * The fields of every table in the specification, by section. Written down so that the simulated service is held to
 * them wherever the specification itself is not at hand.
 */
export const SPEC_TABLES: Record<string, Record<string, string>> = {
  '2.1': table(
    'email! password! terms_accepted:boolean! account_name full_name package coupon',
    'newsletter_opt_in:boolean signup_source client utm_params:object',
  ),
  '2.2': table(
    'account.identifier account.name account.subdomain account.url api_key ssh_public_key.id',
    'ssh_public_key.public_key ssh_public_key.fingerprint oauth_urls:object mcp_config:object',
    'mcp_config.account mcp_config.api_key mcp_config.email email_verified:boolean',
  ),
  '2.3': table(
    'first_name last_name email_address account.name account.permalink',
    'account.beta_features:boolean account.static_hosting_eligible:boolean',
    'account.managed_vps_eligible:boolean',
  ),
  '2.4': table('enrolled:boolean beta_features:boolean'),
  '2.5': table('identifier name protocol_type'),
  '2.5 static_hosting': table(
    'hosted_website_identifier subdomain url spa_mode:boolean status active_deployment_uuid?',
  ),
  '2.5 managed_vps': table('hosted_resource_identifier status ip_address? region size'),
  '2.6': table(
    'identifier:uuid name region size status ip_address monthly_cost:number ssh_key:object',
    'ssh_key.identifier ssh_key.title ssh_key.public_key ssh_key.key_type ssh_key.fingerprint',
    'created_at:timestamp updated_at:timestamp',
  ),
  '2.7 region': table('slug name'),
  '2.7 size': table('slug label monthly_cost:number currency'),
  '2.8': table(
    'identifier:uuid status created_at:timestamp completed_at:timestamp? results:object',
    'results.repository:object results.repository.status results.repository.message?',
    'results.servers:array results.servers.name results.servers.identifier',
    'results.servers.status results.servers.message?',
  ),
  '2.9': table('identifier:uuid packages:object default:boolean servers:array'),
  '2.9 server': table(
    'identifier name protocol_type server_path last_revision preferred_branch',
    'notify_email:boolean server_group_identifier? hostname port:integer username',
    'use_ssh_keys:boolean host_key',
  ),
  '2.10': table(
    'identifier:uuid hook_type name send_on_start:boolean send_on_completion:boolean',
    'send_on_failure:boolean created_at:timestamp updated_at:timestamp',
  ),
  '2.11': table(
    'event properties:object project:object project.name project.permalink project.identifier',
    'user created_at:timestamp',
  ),
  '2.12': table(
    'total_deployments:integer total_deployments_delta:integer success_rate:number?',
    'success_rate_delta:number? avg_duration active_servers:integer',
  ),
  '2.13': table(
    'number:integer kind currency total vat paid:boolean paid_at:timestamp?',
    'created_at:timestamp download_url',
  ),
  '4.2': table('protocol'),
  '4.8 create': table(
    'hook_type! name! send_on_completion:boolean send_on_failure:boolean',
    'send_on_start:boolean properties:object',
  ),
  '4.8 types': {
    http_req: 'url',
    cdn_cache: 'zone_id path_prefix',
    perf_monitor: 'application_id api_key',
    error_tracker_a: 'token environment',
    error_tracker_b: 'api_key environment',
    chat_teams: 'url team',
    codehost: 'account project repository username api_key',
    error_tracker_c: 'hook_version! project environment token organization_slug url',
    error_tracker_d: 'hook_version! api_key url',
    chat_a_oauth: '',
    chat_b: '',
    chat_c: 'url',
    chat_d: 'bot_token chat_id',
  },
  '4.8 update': table(
    'name send_on_start:boolean send_on_completion:boolean send_on_failure:boolean',
    'properties:object',
  ),
  '4.9': table('range include'),
  '7.1': table('error_code hint status error'),
};
