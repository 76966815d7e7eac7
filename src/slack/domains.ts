/** GovSlack is a cloud of its own, with domains of its own. */
const GOV_API = 'slack-gov.com';
const GOV_DOMAINS: readonly string[] = [GOV_API, 'slack-files-gov.com'];

/** The domains under which Slack takes files. @param apiHost where the Web API is */
export function fileDomainsOf(apiHost: string): readonly string[] {
  return isWithin(apiHost, [GOV_API]) ? GOV_DOMAINS : ['slack.com'];
}

/** The hosts that a `response_url` may have: the operator's, and GovSlack's where its Web API is used. */
export function responseHostsOf(hosts: string, apiUrl: string): string[] {
  const configured = hosts.split(',').map((host) => host.trim());
  const isGov = isWithin(new URL(apiUrl).hostname, [GOV_API]);
  return isGov
    ? [...configured, ...GOV_DOMAINS.flatMap((domain) => [domain, `hooks.${domain}`])]
    : configured;
}

export function isWithin(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
