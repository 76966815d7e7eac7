import { z } from 'zod';
import { isNamed } from '../../core/names.ts';
import { projectId } from '../../core/project-ref.ts';
import { formatDay } from '../../core/time/clock.ts';
import { type ActivityEvent, isFailure, readEventOutcome } from '../../service/activity.ts';
import { type LiveServer, lastMessage } from '../../views/activity/last-message.ts';
import { fetchActivity, readKnownActivity } from '../../workspace/read-activity.ts';
import { readZone } from '../../workspace/slack-people.ts';
import { defineCommand } from '../command.ts';
import { replyPrivately } from '../replies.ts';
import { listShownServers, resolveServer } from '../targets/targets.ts';

export const last = defineCommand({
  name: 'last',
  phrase: 'says what is deployed now',
  synonyms: [
    'last deployment of',
    'last deployment',
    'last deploy of',
    'last deploy',
    'last release',
    'latest',
    'live',
  ],
  phrases: {
    'current|deployed|revision|commit|sha|head': '',
    'what|which version|revision|commit|release of|for|on + is|was running|live|deployed|there|out': '$1',
    'when was|were|is last|latest deployed|released|updated|shipped +': '$1',
    'who has|have + deployed|released|shipped|pushed *': '$1',
    'did|has the? last|latest deploy|deployment|release of|for|on|to? * fail|failed|work|succeed|pass|break':
      '$1',
    'how did|was|long did? the? last|latest deploy|deployment|release of|for|on|to? *': '',
    '+ is it up|ok|down|alive|live|running': '$1',
    '+ up': '$1',
    'who did|made|started|ran the? last|latest? deploy|deployment|release of|for|on|to? *': '$1',
    'show|see|list|get commits|changes waiting|pending|undeployed|unreleased for|of|in? *': '$1',
    'what is|was the? status|state|situation|health of|for|on|with +': '$1',
    'commits|pending|undeployed|unreleased|versions|revisions of|for|on|in? *': '$1',
    'what is|are waiting|pending|undeployed|unreleased for|on|in|of? *': '$1',
    'what do|does you|deckhand know|have|say about|on|of +': '$1',
    'what|which version|revision|commit|release|build|sha|code|branch? is|was|are|runs live|deployed|running|out|current|there|up|on|in|at|of|for? *':
      '$1',
    'what|which version|revision|commit|release|build|sha|branch of|for|on|in|does|is? *': '$1',
    'what runs|sits|lives on|in? *': '$1',
    'what does|is + run|running|on|live': '$1',
    'when was|were|did|is + last|latest? deployed|released|updated|shipped|live|changed *': '$1',
    'when was|is the? last|latest successful|good|failed? deploy|deployment|release of|for|on|to? *': '$1',
    'when did + last? deploy|ship|change|go|release|live *': '$1',
    'when did|have we|you|they|i|somebody|someone|anybody last|deploy|deployed|ship|release deploy|ship|release|it? *':
      '$1',
    'who last|has? deployed|released|shipped|pushed +': '$1',
    'who is deploying|deployed +': '$1',
    'is|are + ok|okay|fine|up|alive|healthy|live|deployed|green|working|running|good|stable|done|out|there|online|available|reachable|accessible yet|now|again|today?':
      '$1',
    'how is|are|was + doing|going|looking|now|today?': '$1',
    'status|state|health|condition|info|details of|for|on|about *': '$1',
    'deploy|deploys|deployment|deployments|release status|state|progress of|for|on? *': '$1',
    'what about|is|happened|is up|going|wrong with|to|on|in +': '$1',
    'live|deployed|version|revision|commit|latest|current|release|deployment of|for|on|in|version|revision? +':
      '$1',
    'last|latest|current version|revision|commit|deploy|deployment|release|build of|for|on|in|to? *': '$1',
    'did + deploy|go|work|succeed|ship|finish|pass out|live|through|ok?': '$1',
    'has|have + deployed|shipped|finished|gone|been out|live|deployed|through?': '$1',
  },
  summary: 'Says what is deployed now on each server, by whom, and what was before',
  usage: '[project] [server]',
  examples: ['last storefront', 'last storefront web-2'],
  role: 'member',
  target: 'server',
  args: z.object({ project: z.string().optional(), server: z.string().optional() }),
  async handle(_, context, { account, project, server: serverName }) {
    const { invocation, workspace } = context;
    const server =
      serverName === undefined ? undefined : await resolveServer(context, account, project, serverName);
    const zone = await readZone(workspace, invocation.user);
    const [page, waiting] = await Promise.all([
      fetchActivity(workspace, account, { range: 'last_30_days', stats: false }),
      workspace.waitingCommits(account, projectId(project)),
    ]);
    const query = { range: 'last_400_days', zone, project, server, isHistory: true } as const;
    const activity = await readKnownActivity(workspace, account, query, page);
    const servers = summarizeServers(activity.events, zone, workspace.clock.now());
    const names = server && [server.name, server.identifier].map((name) => name.toLowerCase());
    const requested = servers.filter(
      (one) => names === undefined || one.server === '' || names.includes(one.server.toLowerCase()),
    );
    const now = workspace.clock.now();
    const listed = await listShownServers(workspace, account.name, project);
    const linked = requested.map((one) => ({
      ...one,
      identifier: listed.find((server) => isNamed(server, one.server))?.identifier,
    }));
    const details = { ...activity, server: server?.name, waiting, zone, now, pages: workspace.pages };
    return replyPrivately(lastMessage(account.name, project, linked, details));
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
  // A cancelled deployment changes nothing.
  const newest = events.find(({ event }) => readEventOutcome(event) !== 'cancelled');
  const isFailed = newest !== undefined && isFailure(newest.event);
  const ofToday = events.filter(({ created_at: at }) => formatDay(zone, at) === today);
  return {
    server,
    live,
    before,
    failure: isFailed ? newest : undefined,
    today: ofToday.filter((event) => event !== live).length,
  };
}
