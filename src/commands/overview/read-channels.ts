import { isDirect } from '../../core/message.ts';
import { nameKey } from '../../core/names.ts';
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
import type { ChannelRow } from '../../views/overview/channel-table.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * Lists the schedules of all channels, a row for each channel and account. Makes no call of the service.
 * @param mayBill true if the person may see invoice notices
 */
export async function readChannels(
  workspace: Workspace,
  { filter = '', mayBill }: { filter?: string; mayBill: boolean },
): Promise<ChannelRow[]> {
  const { ledger, schedules, store } = workspace;
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
        projects: listProjects(own),
        kinds: [...new Set(own.map(({ kind }) => kind))],
        isPaused: own.every(({ state }) => state.kind === 'paused'),
        lastAt: followed.lastAt,
        failing: [...new Set([...subjects.map(({ name }) => name), ...followed.failing])],
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
function listProjects(own: readonly Schedule[]): string[] {
  const others = own.filter(({ kind }) => kind !== 'invoices');
  const names = others.map(
    (one) =>
      ('project' in one ? one.project?.name : undefined) ?? (one.kind === 'watch' ? one.pattern : undefined),
  );
  return names.some((name) => name === undefined) ? [] : [...new Set(names.flatMap((name) => name ?? []))];
}

/** Time of the latest deployment that a schedule shows, and the projects whose failures the channel hears of. */
function findStandings(
  own: readonly Schedule[],
  standings: readonly Standing[],
  now: number,
): { lastAt: number | undefined; failing: string[] } {
  const watches = own.filter((one): one is Watch => one.kind === 'watch');
  const others = own.flatMap((one): Followed[] =>
    (one.kind === 'guard' || one.kind === 'digest') && one.account !== undefined
      ? [{ account: one.account, project: one.project }]
      : [],
  );
  const followed = standings.map((standing) => ({
    name: standing.name || standing.project,
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
  return { lastAt: lastAt === 0 ? undefined : lastAt, failing: failing.map(({ name }) => name) };
}

function listWords({ channel, account, projects, kinds, failing }: ChannelRow): string[] {
  const state = failing.length > 0 ? ['failing'] : [];
  return [channel, account ?? '', ...projects, ...kinds, ...state].map(nameKey);
}

function compareText(one = '', other = ''): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
