import { z } from 'zod';
import { replyToCard, showCard } from '../../cards/card.ts';
import { isUndeliverable, logRefused } from '../../cards/deliver.ts';
import { hashJson } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { DAY_MS, MINUTE_MS } from '../../core/time/clock.ts';
import { type ChannelCard, channelCards } from '../../records/channel-cards.ts';
import type { ChannelMove } from '../../records/channels.ts';
import { listQuiets } from '../../records/quiets.ts';
import { isPersonal, type Schedule } from '../../records/schedules.ts';
import { isSlackFailure, isThreadGone } from '../../slack/failure.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { channelCard, drawQuietNotes, replacedCard } from '../../views/setup/channel-card.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { notifyOwner } from '../schedules/pause-schedule.ts';

/** An older card is far above what people read, so the next change posts it again. */
const MAX_AGE_MS = 30 * DAY_MS;
/** A card that was posted so lately is not posted again if a person asks for it, e.g. by a double click. */
const RECENT_MS = MINUTE_MS;

const NONE: ChannelCard = { number: 0, ts: '', since: 0, hash: '' };

interface Showing {
  /** True to post it at the end of the channel, because a person asked for it there. */
  isWantedHere?: boolean;
  /** True to post no first card. */
  isExistingOnly?: boolean;
}

/**
 * Brings the card of a channel up to date with what is set up in it: posts it, or edits it. Safe to repeat.
 * @returns the message that shows it; undefined if the channel has no card and needs no first one
 * @throws SlackFailure if Slack refuses the post, or may accept it later
 */
export function showChannelCard(
  workspace: Workspace,
  channel: string,
  showing: Showing = {},
): Promise<MessageRef | undefined> {
  return lockCard(workspace, channel, () => bringUpToDate(workspace, channel, showing));
}

/** One at a time among all replicas, so that a channel has one card. */
function lockCard<T>({ store }: Workspace, channel: string, work: () => Promise<T>): Promise<T> {
  return store.exclusive(`channel card ${channel}`, work);
}

async function bringUpToDate(
  workspace: Workspace,
  channel: string,
  { isWantedHere = false, isExistingOnly = false }: Showing,
): Promise<MessageRef | undefined> {
  const { clock, store } = workspace;
  const cards = channelCards(store);
  const before = (await cards.get(channel)) ?? NONE;
  if (before.ts === '' && isExistingOnly) return undefined;
  const quiets = await listQuiets(store, channel, clock.now());
  const root = channelCard({
    schedules: await listSetUp(workspace, channel),
    notes: drawQuietNotes(channel, quiets),
    pages: workspace.pages,
    isAccountShown: await workspace.accounts.hasSeveral(),
  });
  const hash = hashJson(root);
  const age = clock.now() - before.since;
  const isKept = before.ts !== '' && age < (isWantedHere ? RECENT_MS : MAX_AGE_MS);
  if (isKept && before.hash === hash && !isWantedHere) {
    await retire(workspace, channel, before);
    return { channel, ts: before.ts };
  }
  const number = isKept ? before.number : before.number + 1;
  const id = `channel card ${channel} ${number}`;
  const ref = isKept ? { channel, ts: before.ts } : undefined;
  const latest = await showCard(workspace, { id, channel, ref, root, cause: hash, ifRefused: 'post' });
  const isNew = ref === undefined || latest.ts !== ref.ts;
  const after: ChannelCard = {
    number: isKept && isNew ? number + 1 : number,
    ts: latest.ts,
    since: isNew ? clock.now() : before.since,
    hash,
    // A card whose edit Slack refused cannot lose its buttons either.
    replaced: isKept ? before.replaced : before.ts || before.replaced,
  };
  await cards.put(channel, after);
  await retire(workspace, channel, after);
  return latest;
}

/** Takes the buttons off the message that a card replaced. */
async function retire(workspace: Workspace, channel: string, { replaced }: ChannelCard): Promise<void> {
  if (replaced === undefined) return;
  await editOld(workspace, { channel, ts: replaced }, replacedCard());
  await channelCards(workspace.store).update(channel, (current) =>
    current?.replaced === replaced ? { ...current, replaced: undefined } : current,
  );
}

async function editOld(workspace: Workspace, ref: MessageRef, root: Message): Promise<void> {
  const { channel, ts } = ref;
  const id = `channel card ${channel} ${ts}`;
  await showCard(workspace, { id, channel, ref, root, cause: 'replaced', ifRefused: 'leave' });
}

/** Lists all that a channel's card shows: personal watches are in direct messages. */
export async function listSetUp(
  { schedules }: Pick<Workspace, 'schedules'>,
  channel: string,
): Promise<Schedule[]> {
  return (await schedules.all()).filter((one) => one.channel === channel && !isPersonal(one));
}

/** A line in the thread of a channel's card. */
export interface CardLine {
  /** The same for each attempt, so that it is posted once. */
  name: string;
  message: Message;
  /** True if the channel gets it too, because an edit notifies nobody. */
  isForChannel?: boolean | undefined;
}

/**
 * Shows a change of what is set up: edits the card of the channel, and adds a line to its thread. Safe to repeat.
 * @throws SlackFailure if Deckhand may not post in the channel
 */
export async function showChange(workspace: Workspace, channel: string, line: CardLine): Promise<void> {
  const card = await showChannelCard(workspace, channel);
  if (card === undefined) return;
  try {
    await addLine(workspace, card, line);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    if (isThreadGone(error)) return addToNewCard(workspace, card, line);
    // An edit may succeed in a channel that Deckhand has left.
    if (isUndeliverable(error)) throw error;
    logRefused(workspace, channel, error);
    const { name, message, isForChannel = false } = line;
    // A job sends it once Slack takes it.
    if (isForChannel) await notifyOwner(workspace, { id: `${name} ${channel}`, channel, message });
  }
}

async function addLine(workspace: Workspace, ref: MessageRef, line: CardLine): Promise<void> {
  const { name, message, isForChannel } = line;
  const thread = { id: `channel card ${ref.channel}`, ref };
  await replyToCard(workspace, thread, [[name, message, isForChannel]]);
}

/** Somebody deleted the card, and it had not changed, so that no edit noticed it. */
async function addToNewCard(workspace: Workspace, gone: MessageRef, line: CardLine): Promise<void> {
  const { channel, ts } = gone;
  await lockCard(workspace, channel, async () => {
    const forget = (current?: ChannelCard) =>
      current?.ts === ts ? { ...current, ts: '', hash: '' } : current;
    await channelCards(workspace.store).update(channel, forget);
  });
  const card = await showChannelCard(workspace, channel);
  if (card !== undefined) await addLine(workspace, card, line);
}

/**
 * Ends the card of a channel from which everything moved: it loses its buttons, and the channel gets the line. Safe to repeat.
 */
export async function endChannelCard(workspace: Workspace, channel: string, line: CardLine): Promise<void> {
  const { name, message } = line;
  const cards = channelCards(workspace.store);
  const card = await cards.get(channel);
  // An earlier attempt ended it.
  if (card?.ts === '') return;
  try {
    // Without a card, the line is a message of its own.
    await addLine(workspace, { channel, ts: card?.ts ?? '' }, { ...line, isForChannel: true });
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    logRefused(workspace, channel, error);
    await notifyOwner(workspace, { id: `${name} ${channel}`, channel, message });
  }
  await lockCard(workspace, channel, async () => {
    const current = await cards.get(channel);
    if (current === undefined) return;
    if (current.ts !== '') await editOld(workspace, { channel, ts: current.ts }, message);
    await cards.put(channel, { ...current, ts: '', hash: '' });
  });
}

/** Moves the card of a channel that has a new id. Safe to repeat. */
export function moveChannelCard(workspace: Workspace, { from, to }: ChannelMove): Promise<void> {
  return lockCard(workspace, from, async () => {
    const cards = channelCards(workspace.store);
    const card = await cards.get(from);
    if (card === undefined) return;
    await cards.update(to, (current) => current ?? card);
    await cards.delete(from);
  });
}

export const CardJob = z.object({ channel: z.string() });

/**
 * Brings the card of a channel up to date after a change of its schedules: one that Deckhand made itself, or one whose
 * request a kill cut off. Posts no first card.
 */
export const SHOW_CHANNEL_CARD = defineJob({
  queue: 'channel-cards',
  schema: CardJob,
  options: { concurrency: 20, attempts: 10, backoffMs: 5_000 },
  async handle(workspace, { data: { channel } }) {
    try {
      await showChannelCard(workspace, channel, { isExistingOnly: true });
    } catch (error) {
      // The next change tries again.
      if (!isUndeliverable(error)) throw error;
      logRefused(workspace, channel, error);
    }
  },
});
