import { accountUrl } from '../../service/addresses.ts';
import type { ShownProject } from '../../views/unfurls/work-object.ts';
import type { Account } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** The project that a link names, with its latest test; undefined where the account has none of that name. */
export async function linkedProject(
  { config, projects, runs }: Pick<Workspace, 'config' | 'projects' | 'runs'>,
  account: Account,
  named: string,
): Promise<ShownProject | undefined> {
  const all = await projects.list(account);
  const project = all.find(({ permalink, identifier }) => [permalink, identifier].includes(named));
  if (project === undefined) return undefined;
  const latest = (await runs.list()).find(
    ({ target }) =>
      target.account === account.name &&
      target.project.permalink === project.permalink &&
      target.server === undefined,
  );
  const url = `${accountUrl(account.name, config.SERVICE_BASE_URL)}/projects/${encodeURIComponent(project.permalink)}`;
  return { account: account.name, url, project, latest };
}
