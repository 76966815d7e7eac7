/** Names of Deckhand's connections to Postgres, by which `deckhand migrate` finds a Deckhand that runs. */
export const CONNECTION_NAMES = { store: 'deckhand store', engine: 'deckhand engine' } as const;

/** Parameters of an address that would replace what Deckhand itself says of its connections. */
const OURS = ['application_name', 'client_encoding'];

/** Returns options of a connection. The driver prefers an address's own parameters, so these are removed. */
export function openAs(url: string, name: string): { connectionString: string; application_name: string } {
  const address = new URL(url);
  for (const parameter of OURS) address.searchParams.delete(parameter);
  return { connectionString: address.href, application_name: name };
}
