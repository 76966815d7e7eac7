import { bold, link } from '../../core/mrkdwn.ts';
import { findProjectPage, type Pages } from '../../core/service-pages.ts';
import { safeUrl } from './make-blocks.ts';

interface NamedProject {
  name: string;
  /** Absent for a project that is known by its name alone, which then has no link. */
  permalink?: string | undefined;
}

/** The name of a project in bold, as a link to its page; mrkdwn. @param pages undefined for no link */
export function projectLink(
  pages: Pages | undefined,
  account: string,
  project: NamedProject,
  max = 80,
): string {
  const { name, permalink } = project;
  return linkName(bold(name, max), findProjectPage(pages, { account, permalink }));
}

/** The name of a server in bold, as a link to its page; mrkdwn. */
export function serverLink(
  pages: Pages | undefined,
  { account, permalink }: { account: string; permalink: string },
  { name, identifier }: { name: string; identifier?: string | undefined },
  max = 80,
): string {
  const url = identifier === undefined ? undefined : pages?.server(account, permalink, identifier);
  return linkName(bold(name, max), url);
}

/** A name as a link to its page, if it has one. Slack takes no address with the signs of a link in it. @param label mrkdwn */
export function linkName(label: string, address: string | undefined): string {
  const url = safeUrl(address);
  return url === undefined || /[<>|]/.test(url) ? label : link(url, label);
}

/** "show" as a link, to go behind a line; empty without an address. */
export function showLink(address: string | undefined): string {
  const url = safeUrl(address);
  return url === undefined ? '' : `  <${url}|show>`;
}
