/**
 * The tables of the documents: keyv's own, with an index that makes a prefix a range whatever the database's collation, and
 * the locks among replicas, which need not survive a crash of the database.
 */
export const POSTGRES_SCHEMA = `CREATE TABLE IF NOT EXISTS public.keyv (
  key VARCHAR(1000) NOT NULL, value TEXT, namespace VARCHAR(255) DEFAULT NULL, expires BIGINT DEFAULT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS keyv_key_namespace_idx ON public.keyv (key, COALESCE(namespace, ''));
CREATE INDEX IF NOT EXISTS keyv_expires_idx ON public.keyv (expires) WHERE expires IS NOT NULL;
CREATE INDEX IF NOT EXISTS keyv_prefix_idx ON public.keyv (key COLLATE "C");
CREATE UNLOGGED TABLE IF NOT EXISTS public.deckhand_leases (
  key TEXT PRIMARY KEY, holder UUID NOT NULL, until TIMESTAMPTZ NOT NULL);
`;
