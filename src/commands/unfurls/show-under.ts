import type { EntityMetadata } from '@slack/types';
import type { KnownBlock } from '../../core/message.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';
import type { MessageRef } from '../../slack/slack.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** What is shown under a link. */
export interface Shown {
  blocks: KnownBlock[];
  /** The same as a work object, whose pane can be opened. */
  card?: EntityMetadata;
}

/** With the work object where Slack takes it here, else the blocks alone. */
export async function showUnder(
  { slack, newBlocks }: Pick<Workspace, 'slack' | 'newBlocks'>,
  { channel, ts }: MessageRef,
  { url, blocks, card }: Shown & { url: string },
): Promise<void> {
  const show = (more: { metadata?: { entities: EntityMetadata[] } }) =>
    slack.call('chat.unfurl', { channel, ts, unfurls: { [url]: { blocks } }, ...more }, BACKGROUND);
  if (card === undefined || (await newBlocks.areRefused('work_object'))) return void (await show({}));
  try {
    await show({ metadata: { entities: [card] } });
  } catch (error) {
    if (!isRefused(error)) throw error;
    await show({});
    await newBlocks.refuse('work_object');
  }
}

/** Slack's words begin or end with it: `error_processing_metadata`, `invalid_metadata_format`. */
function isRefused(error: unknown): boolean {
  if (!isSlackFailure(error, 'rejected')) return false;
  return error.reason.includes('metadata') || OTHER_WORDS.has(error.reason);
}

const OTHER_WORDS: ReadonlySet<string> = new Set(['feature_not_enabled', 'invalid_arguments']);
