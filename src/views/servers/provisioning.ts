import type { KnownBlock, Message, News } from '../../core/message.ts';
import { bold, code, dateTime, duration, mrkdwn } from '../../core/mrkdwn.ts';
import type { Target } from '../../records/test-runs.ts';
import { managedStatus, type Server } from '../../service/servers.ts';
import { button, buttons, context, say, section, UNENDED } from '../blocks/message.ts';
import {
  type Fact,
  factLines,
  managedFacts,
  siteButton,
  statusIcon,
  statusMeaning,
  testServerButton,
} from './server.ts';

/** A server of a project; `cost` in words. */
export type ServerTarget = Target & { server: NonNullable<Target['server']>; cost?: string | undefined };

/** The state of a followed managed server; `server` is its latest known record. */
export type ProvisioningState =
  | { kind: 'running'; server?: Server | undefined; trouble?: string | undefined }
  | { kind: 'ended'; server: Server }
  /** It could not be followed; `reason` is mrkdwn, escaped. */
  | { kind: 'stopped'; reason: string }
  /** No longer followed; it may still be created. */
  | { kind: 'lost'; server?: Server | undefined };

export interface ProvisioningView {
  target: ServerTarget;
  askedBy: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  now: number;
  state: ProvisioningState;
}

/** The root message: what is created, who asked, its state; buttons only once it has ended. */
export function provisioningMessage(view: ProvisioningView): Message {
  const { target, state } = view;
  const { icon, words } = headline(state);
  const name = `${bold(target.server.name)} in ${bold(target.project.name)}`;
  const elapsed = duration(view.now - view.startedAt);
  return {
    text: `Server ${name}: ${words}`,
    blocks: [
      section(`${icon} *Server* ${name}: ${words}`),
      ...detailBlocks(view),
      context(
        code(target.account),
        `asked by <@${view.askedBy}>`,
        `started ${dateTime(view.startedAt)}`,
        state.kind === 'running' ? `${elapsed} so far` : `took ${elapsed}`,
      ),
      ...buttonsOf(view),
    ],
  };
}

/** The first news of the thread. */
export function orderedNews(target: ServerTarget): News {
  const said = `:package: The service has accepted the order for ${bold(target.server.name)} and is creating it.`;
  return { key: 'ordered', message: say(said) };
}

/** The news of a state, once for each. */
export function statusNews(server: Server): News[] {
  const status = managedStatus(server);
  // The order is the news of the beginning already.
  if (status === undefined || status === 'provisioning') return [];
  const address = server.static_hosting?.url ?? server.managed_vps?.ip_address;
  const where = status === 'active' && address ? `, at ${mrkdwn(address, 300)}` : '';
  const said = `${statusIcon(status)} ${bold(server.name)} is ${statusMeaning(status)}${where}`;
  return [{ key: `status:${status.slice(0, 60)}`, message: say(said) }];
}

function headline(state: ProvisioningState): { icon: string; words: string } {
  if (state.kind === 'stopped' || state.kind === 'lost') return UNENDED[state.kind];
  const status = state.server === undefined ? 'provisioning' : managedStatus(state.server);
  if (status === undefined) return { icon: ':hourglass_flowing_sand:', words: 'no state given yet' };
  return { icon: statusIcon(status), words: mrkdwn(status, 60) };
}

/** What a channel reads of a server; `server show` has the rest. */
const TOLD: ReadonlySet<string> = new Set(['Address', 'IP address', 'Region', 'Size']);

function detailBlocks({ state, target }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'stopped') return [section(state.reason)];
  const all = state.server === undefined ? [] : managedFacts(state.server);
  const facts: Fact[] = all.filter(([name]) => TOLD.has(name));
  if (target.cost !== undefined) facts.push(['Price', mrkdwn(target.cost)]);
  const trouble = state.kind === 'running' && state.trouble && `:warning: ${state.trouble}`;
  const note = state.kind === 'lost' ? LOST : trouble;
  return [...(facts.length === 0 ? [] : [section(factLines(facts))]), ...(note ? [context(note)] : [])];
}

const LOST = 'It took too long, so I stopped following it. The service may still be creating it.';

function buttonsOf({ state, target, askedBy, startedAt, now }: ProvisioningView): KnownBlock[] {
  if (state.kind === 'running') return [];
  if (state.kind === 'ended') return endedButtons(state.server, target);
  // `at` makes it another button each time: a used one stays used.
  const value = { target, askedBy, startedAt, at: now };
  return buttons(button('Check again', 'server.add:check', { style: 'primary', value }));
}

function endedButtons(record: Server, { account, project, server }: ServerTarget): KnownBlock[] {
  if (managedStatus(record) !== 'active') return [];
  return buttons(siteButton(record), testServerButton({ account, project, server }));
}
