import type { EntityMetadata } from '@slack/types';
import { withTimeout } from '../../core/clock.ts';
import { UserError } from '../../core/errors.ts';
import { type Account, AccountFailure } from '../../records/accounts.ts';
import { type ActivityEvent, getActivity } from '../../service/activity.ts';
import { accountUrl, readAddress } from '../../service/addresses.ts';
import { eventsOf } from '../../views/activity/activity.ts';
import { projectDetails, type ShownProject } from '../../views/unfurls/unfurl.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../command.ts';

/** The person looks at an empty pane meanwhile, and Slack's handle for it expires. */
const FEED_MS = 1_500;

/**
 * What the pane beside the conversation shows of the linked project, read with the key that acts for the person.
 * @throws UserError, the same for what is not there and what is not connected here
 */
export async function detailsOf(context: CommandContext, address: string): Promise<EntityMetadata> {
  const { workspace, caller } = context;
  const link = readAddress(address, workspace.config.SERVICE_BASE_URL);
  const account = link && (await workspace.accounts.get(link.account, caller));
  if (link === undefined || account === undefined) throw unknownProject();
  const [found, events] = await Promise.all([
    linkedProject(workspace, account, link.project),
    latestEvents(context, account),
  ]);
  if (found === undefined) throw unknownProject();
  return projectDetails(found, events && eventsOf(events, found.project.permalink));
}

function unknownProject(): UserError {
  return new UserError('There is no such project in an account that is connected here.', 'projects');
}

/** Undefined where the service fails or is late: the rest is shown without them. */
async function latestEvents(
  { workspace: { accounts, clock }, explain }: CommandContext,
  account: Account,
): Promise<ActivityEvent[] | undefined> {
  const reading = accounts.use(account, (client) => getActivity(client, { range: 'last_30_days' }));
  try {
    return (await withTimeout(clock, FEED_MS, reading))?.events;
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    explain(error, { job: 'work_object' });
    return undefined;
  }
}

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
