/** What is tested, as a message and its buttons name it. */
export interface TestTarget {
  account: string;
  project: { permalink: string; name: string };
  server?: { identifier: string; name: string } | undefined;
}
