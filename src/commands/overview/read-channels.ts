import { isDirect } from '../../core/message.ts';
import { nameKey } from '../../core/names.ts';
import { findProjectPage, type Pages } from '../../core/service-pages.ts';
import { episodeRecords, failingNow } from '../../records/episodes.ts';
import {
  type Followed,
  findFollowedServers,
  isFailed,
  isSettled,
  readLatest,
} from '../../records/failure-rules.ts';
import { isPersonal, type Schedule, type Watch } from '../../records/schedules.ts';
import type { Standing } from '../../records/standings.ts';
import {
  type ChannelRow,
  FAILING_FILTER,
  type LinkedName,
  nameKind,
} from '../../views/overview/channel-table.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * Lists the schedules of all channels, a row for each channel and account. Makes no call of the service.
 * @param mayBill true if the person may see invoice notices
 */
export async function readChannels(
  workspace: Workspace,
  { filter = '', mayBill }: { filter?: string; mayBill: boolean },
): Promise<ChannelRow[]> {
  const { ledger, pages, schedules, store } = workspace;
  const all = (await schedules.all()).filter(
    (one) => !isPersonal(one) && !isDirect(one.channel) && (mayBill || one.kind !== 'invoices'),
  );
  const standings = Map.groupBy(await ledger.standings.list(), ({ account }) => account);
  const open = (await episodeRecords(store).list()).flatMap(({ doc }) =>
    failingNow(doc) === undefined ? [] : [doc.subject],
  );
  const now = workspace.clock.now();
  const rows = [...Map.groupBy(all, ({ channel, account }) => `${channel} ${account ?? ''}`).values()].map(
    (own): ChannelRow => {
      const [{ channel, account } = { channel: '', account: undefined }] = own;
      const followed = findStandings(own, standings.get(account ?? '') ?? [], now);
      const subjects = open.filter((subject) => subject.channel === channel && subject.account === account);
      return {
        channel,
        account,
        projects: listProjects(own).map((one) => linkTo(pages, account, one)),
        kinds: [...new Set(own.map(({ kind }) => kind))],
        isPaused: own.every(({ state }) => state.kind === 'paused'),
        lastAt: followed.lastAt,
        failing: uniqueNames([...subjects, ...followed.failing]).map((one) => linkTo(pages, account, one)),
      };
    },
  );
  const key = nameKey(filter);
  return rows
    .filter((row) => key === '' || listWords(row).some((word) => word.includes(key)))
    .toSorted(
      (one, other) => compareText(one.account, other.account) || compareText(one.channel, other.channel),
    );
}

/** Names of the projects, and patterns; empty if the whole account is followed. */
function listProjects(own: readonly Schedule[]): NamedProject[] {
  const others = own.filter(({ kind }) => kind !== 'invoices');
  const projects = others.map((one): NamedProject | undefined => {
    if ('project' in one && one.project !== undefined) return one.project;
    return one.kind === 'watch' && one.pattern !== undefined ? { name: one.pattern } : undefined;
  });
  return projects.some((one) => one === undefined) ? [] : uniqueNames(projects.flatMap((one) => one ?? []));
}

interface NamedProject {
  name: string;
  permalink?: string | undefined;
}

function uniqueNames(projects: readonly NamedProject[]): NamedProject[] {
  return [...new Map(projects.map((one) => [one.name, one])).values()];
}

function linkTo(pages: Pages, account: string | undefined, { name, permalink }: NamedProject): LinkedName {
  return { name, url: account && findProjectPage(pages, { account, permalink }) };
}

/** Time of the latest deployment that a schedule shows, and the projects whose failures the channel hears of. */
function findStandings(
  own: readonly Schedule[],
  standings: readonly Standing[],
  now: number,
): { lastAt: number | undefined; failing: NamedProject[] } {
  const watches = own.filter((one): one is Watch => one.kind === 'watch');
  const others = own.flatMap((one): Followed[] =>
    (one.kind === 'guard' || one.kind === 'digest') && one.account !== undefined
      ? [{ account: one.account, project: one.project }]
      : [],
  );
  const followed = standings.map((standing) => ({
    name: standing.name || standing.project,
    permalink: standing.permalink,
    servers: findFollowedServers(standing, watches, new Map()),
  }));
  const latest = standings.map((standing) =>
    readLatest(findFollowedServers(standing, [...watches, ...others], new Map())),
  );
  const lastAt = Math.max(0, ...latest);
  const failing = followed.filter(({ servers }) => {
    const failed = servers.filter(isFailed);
    return failed.length > 0 && !isSettled(failed, undefined, now);
  });
  return { lastAt: lastAt === 0 ? undefined : lastAt, failing };
}

/** The words of a row as the table shows them, and the names of its kinds. */
function listWords({ channel, account, projects, kinds, isPaused, failing }: ChannelRow): string[] {
  const state = [...(failing.length > 0 ? [FAILING_FILTER] : []), ...(isPaused ? ['paused'] : [])];
  const names = projects.map(({ name }) => name);
  return [channel, account ?? '', ...names, ...kinds, ...kinds.map(nameKind), ...state].map(nameKey);
}

function compareText(one = '', other = ''): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
