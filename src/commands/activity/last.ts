import { z } from 'zod';
import { formatDay } from '../../core/time/clock.ts';
import { type ActivityEvent, readEventOutcome, readEventTime } from '../../service/activity.ts';
import { type LiveServer, lastMessage } from '../../views/activity/last.ts';
import { fetchActivity, readKnownActivity } from '../../workspace/activity.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { defineCommand } from '../command.ts';
import { replyPrivately } from '../replies.ts';
import { resolveServer } from '../targets/targets.ts';

export const last = defineCommand({
  name: 'last',
  phrase: 'says what is deployed now',
  synonyms: ['last deployment of', 'last deployment', 'last deploy of', 'last deploy', 'live'],
  summary: 'Says what is deployed now on each server, by whom, and what was before',
  usage: '[project] [server]',
  examples: ['last storefront', 'last storefront web-2'],
  role: 'member',
  target: 'server',
  args: z.object({ project: z.string().optional(), server: z.string().optional() }),
  async run(_, context, { account, project, server: serverName }) {
    const { invocation, workspace } = context;
    const server =
      serverName === undefined ? undefined : await resolveServer(context, account, project, serverName);
    const zone = await readZone(workspace, invocation.user);
    const page = await fetchActivity(workspace, account, { range: 'last_30_days', stats: false });
    const query = { range: 'last_400_days', zone, project, server, isHistory: true } as const;
    const activity = await readKnownActivity(workspace, account, query, page);
    const servers = summarizeServers(activity.events, zone, workspace.clock.now());
    const names = server && [server.name, server.identifier].map((name) => name.toLowerCase());
    const requested = servers.filter(
      (one) => names === undefined || one.server === '' || names.includes(one.server.toLowerCase()),
    );
    return replyPrivately(lastMessage(account.name, project, requested, activity));
  },
});

/** The deployments that matter now, of each server. Pure. @param events the latest first */
export function summarizeServers(events: readonly ActivityEvent[], zone: string, now: number): LiveServer[] {
  const byServer = new Map<string, { server: string; own: ActivityEvent[] }>();
  for (const event of events) {
    const { servers } = event.properties;
    for (const server of servers.length === 0 ? [''] : servers) {
      const row = byServer.get(server.toLowerCase()) ?? { server, own: [] };
      byServer.set(server.toLowerCase(), row);
      row.own.push(event);
    }
  }
  return [...byServer.values()].map(({ server, own }) =>
    summarizeServer(server, own, formatDay(zone, now), zone),
  );
}

function summarizeServer(
  server: string,
  events: readonly ActivityEvent[],
  today: string,
  zone: string,
): LiveServer {
  const successes = events.filter(({ event }) => readEventOutcome(event) === 'succeeded');
  const [live, before] = successes;
  const [newest] = events;
  const isFailed = newest !== undefined && readEventOutcome(newest.event) === 'failed';
  const ofToday = events.filter(({ created_at: at }) => formatDay(zone, at) === today);
  return {
    server,
    live,
    before,
    failure: isFailed ? newest : undefined,
    today: ofToday.filter((event) => event !== live).length,
    back: live && findEarlierTime(live, successes),
  };
}

/** When the revision was live before another one. @param successes the latest first */
function findEarlierTime(
  { properties: { end_ref: ref } }: ActivityEvent,
  successes: readonly ActivityEvent[],
): { from: number; to: number } | undefined {
  if (ref === null) return undefined;
  const isSame = ({ properties }: ActivityEvent): boolean => properties.end_ref === ref;
  const other = successes.findIndex((event) => !isSame(event));
  const at = other < 0 ? -1 : successes.findIndex((event, place) => place > other && isSame(event));
  const [earlier, next] = [successes[at], successes[at - 1]];
  if (earlier === undefined || next === undefined) return undefined;
  return { from: readEventTime(earlier), to: readEventTime(next) };
}
