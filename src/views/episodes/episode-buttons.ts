import type { Button, Overflow } from '@slack/types';
import { defined, shortenId } from '../../core/json.ts';
import type { KnownBlock } from '../../core/message.ts';
import type { Episode, ShownSubject, Subject, Verb } from '../../records/episodes.ts';
import { button, buttons, type MenuOption, overflowMenu } from '../blocks/make-blocks.ts';

/** A private list, and the person who reads it. The list shows only what they may do. */
export interface PrivateList {
  /** Name of the list, so that a click draws it again. */
  name: string;
  user: string;
  isOperator: boolean;
  /** The commands of failures that the channel allows. */
  commands: ReadonlySet<string>;
  /** True if it shows several failures, of which none is the first choice. */
  hasSeveral?: boolean;
}

/** The command of each kind of failure. If it is switched off, nobody can use the buttons that it posted. */
export const FOLLOWED_BY = { deployments: 'watch', reachability: 'guard' } as const;

/** A failure or an outage, as the values of its buttons name it. */
interface Drawn {
  value: Readonly<Record<string, string | undefined>>;
  id: string;
  /** Distinguishes equal buttons of a list. */
  suffix: string;
}

/**
 * Buttons of an open failure: to take it, to test it again, its log, and the rest behind ⋯. In a direct message, nobody else
 * could take it.
 * @param list the private list that shows it, if not its own message
 */
export function drawEpisodeButtons(
  key: string,
  subject: ShownSubject,
  episode: Episode,
  list?: PrivateList,
): KnownBlock[] {
  const { person, account, kind } = subject;
  const more = [drawTest(key, subject, episode, list), drawLog(key, episode, list)];
  if (person !== undefined) return buttons(...more, kind === 'deployments' && drawMute(account));
  const drawn = { value: { key }, id: episode.id, suffix: key };
  const quiet = { channel: subject.channel, key, lasting: subject.quiet };
  return drawActs(drawn, { kind, owner: episode.owner, claim: CLAIM, quiet }, more, list);
}

const CLAIM = 'I’m on it';
const CLAIM_ALL = 'I’m on all of it';

/** Buttons of an outage, like those of one failure. */
export function drawOutageButtons(
  outage: { place: string; id: string; kind: Subject['kind']; channel: string } & Pick<Episode, 'owner'> & {
      silence?: ShownSubject['quiet'];
      members: ReadonlyArray<{ episode: Pick<Episode, 'ending' | 'owner'> }>;
    },
  list?: PrivateList,
): KnownBlock[] {
  const { place, id, kind, owner, channel, silence, members } = outage;
  const drawn = { value: { outage: place }, id, suffix: place };
  const failing = members.filter(({ episode }) => episode.ending === undefined);
  const claim = failing.length > 1 ? CLAIM_ALL : CLAIM;
  const quiet = silence && { channel, key: '', lasting: silence };
  const isFree = isAnyFree({ owner, members });
  return drawActs(drawn, { kind, owner, isFree, claim, ...defined({ quiet }) }, [], list);
}

/** True unless each failure of an outage has a person of its own, which leaves nothing to take. */
export function isAnyFree({
  owner,
  members,
}: {
  owner?: string | undefined;
  members: ReadonlyArray<{ episode: Pick<Episode, 'ending' | 'owner'> }>;
}): boolean {
  const failing = members.filter(({ episode }) => episode.ending === undefined);
  return owner !== undefined || failing.some(({ episode }) => episode.owner === undefined);
}

/** Takes an outage from a message that only names it. */
export function claimElsewhere({ place, id }: { place: string; id: string }): Button {
  const value = { outage: place, id, isNamed: true };
  return button(CLAIM_ALL, `episode:claim#${id}`, { value, style: 'primary' });
}

function drawActs(
  { value, id, suffix }: Drawn,
  {
    kind,
    owner,
    isFree = true,
    claim: label,
    quiet,
  }: {
    kind: Subject['kind'];
    owner: string | undefined;
    isFree?: boolean;
    claim: string;
    quiet?: QuietState;
  },
  more: ReadonlyArray<Button | undefined>,
  list: PrivateList | undefined,
): KnownBlock[] {
  const mayAct = list === undefined || list.commands.has(FOLLOWED_BY[kind]);
  const isOwner = list === undefined ? owner !== undefined : owner === list.user;
  const mayClaim = mayAct && isFree && (list === undefined || !isOwner);
  const mayClose = mayAct && (list === undefined || list.isOperator || isOwner);
  const actionId = (name: string): string => (list === undefined ? name : `${name}#${suffix}`);
  const claim = button(owner === undefined ? label : 'Take over', actionId('episode:claim'), {
    value: { ...value, id, owner, list: list?.name },
    ...(owner === undefined && list?.hasSeveral !== true ? { style: 'primary' } : {}),
  });
  const option = (label: string, verb: Verb, ask?: true) => ({
    label,
    actionId: `episode:${verb}`,
    value: { ...value, id: shortenId(id), owner, list: list?.name, ask },
  });
  const options = [
    ...(mayAct && isOwner ? [option('Hand back', 'release')] : []),
    ...(quiet === undefined ? [] : listQuietOptions(quiet, id, list, isOwner)),
    ...(mayClose ? [option('Close', 'close', true)] : []),
  ];
  const menu: Overflow | undefined =
    options.length === 0 ? undefined : overflowMenu(actionId('episode:more'), options);
  return buttons(mayClaim && claim, ...more, menu);
}

/** A failure's project in its channel, and the quiet that lasts. */
interface QuietState {
  channel: string;
  key: string;
  lasting: ShownSubject['quiet'];
}

/** Members may have an hour; a list shows the longer ones only to those who may have them. */
function listQuietOptions(
  { channel, key, lasting }: QuietState,
  id: string,
  list: PrivateList | undefined,
  isOwner: boolean,
): MenuOption[] {
  if (list?.commands.has('quiet') === false) return [];
  if (lasting !== undefined)
    return [{ label: 'End now', actionId: 'quiet:end', value: { id: lasting.id, channel } }];
  const isLong = list === undefined || list.isOperator || isOwner;
  const option = (label: string, until: string): MenuOption => ({
    label,
    actionId: 'episode:quiet',
    value: { key, id: shortenId(id), until, list: list?.name },
  });
  return [
    option('Quiet for 1 hour', 'hour'),
    ...(isLong ? [option('Quiet until 08:00', 'morning'), option('Quiet until Monday', 'monday')] : []),
  ];
}

/** Tests again if something is unreachable or the last test is too old. The result is shown in the failure's thread. */
function drawTest(
  key: string,
  subject: Subject,
  { id, failures, items = [], diagnosis }: Episode,
  list: PrivateList | undefined,
): Button | undefined {
  if (list?.commands.has('test') === false) return undefined;
  const suffix = list === undefined ? '' : `#${key}`;
  const own = (label: string): Button => button(label, `failure:test${suffix}`, { value: { key, id } });
  if (diagnosis?.isOlder === true) return own('Test now');
  const unreachable = subject.kind === 'reachability' ? items : (diagnosis?.items ?? []);
  if (unreachable.length === 0) return undefined;
  if (list !== undefined) return own('Test again');
  const { account, name, project, permalink = project } = subject;
  const stable = project === permalink ? {} : { identifier: project };
  const target = { account, project: { ...stable, permalink, name } };
  return button('Test again', 'test:again', { value: { target, failures } });
}

/** Shows the last lines of the failed step, if there is a log. */
function drawLog(key: string, { id, step }: Episode, list: PrivateList | undefined): Button | undefined {
  if (step?.hasLog !== true || list?.commands.has('watch') === false) return undefined;
  const suffix = list === undefined ? '' : `#${key}`;
  return button('Last lines', `failure:log${suffix}`, { value: { key, id } });
}

/** Buttons under a message of a personal watch. */
export function muteButtons(account: string): KnownBlock[] {
  return buttons(drawMute(account));
}

function drawMute(account: string): Button {
  return button('Mute for today', 'watch:mute', { value: { account } });
}
