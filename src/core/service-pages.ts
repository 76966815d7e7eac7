/** Addresses of the service's own pages. The addresses of accounts come from the configuration. */
export interface Pages {
  project(account: string, permalink: string): string;
  server(account: string, permalink: string, identifier: string): string;
}

/** The page of a project; undefined for one that is known by its name alone. */
export function findProjectPage(
  pages: Pages | undefined,
  { account, permalink }: { account: string; permalink?: string | undefined },
): string | undefined {
  return permalink === undefined ? undefined : pages?.project(account, permalink);
}
