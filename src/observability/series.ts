/**
 * Collections of the store. Each has a series for unreadable documents that begins at 0, because Prometheus sees no
 * increase in a counter that first appears above 0.
 */
export const COLLECTIONS: readonly string[] =
  `access-requests accounts audit backups channel-cards channel-ids channels data-keys deliveries ended episodes failures feeds
  followed-servers forms home-viewers hook-tokens install-used installations integrations
  known-servers ledger link-states link-tickets links once outages preferences processes pushed-reads pushes quiets
  recoveries refused-signatures removed-schedules roles rounds runs schedules server-orders setups
  service-descriptions service-names signup-attempts standings step-calls step-searches store targets
  uninstalled waiting`.split(/\s+/);

/** Reasons for which a request to Slack's routes is refused. */
export const REFUSALS: readonly string[] =
  'missing stale wrong malformed not_understood too_large too_much_at_once too_slow'.split(' ');
