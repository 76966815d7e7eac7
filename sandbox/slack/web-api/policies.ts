import { policyOf } from '../state/policies.ts';
import type { Json, SlackFile, Workspace } from '../state/types.ts';
import { SlackError } from './errors.ts';
import type { Place } from './method.ts';

/** The refusals that a workspace's policies lead to, each where Slack gives it. */

type Target = Pick<Place, 'workspace' | 'channel'>;

export function refuseAccess(workspace: Workspace): void {
  const word = policyOf(workspace, 'access');
  if (word) throw new SlackError(word);
}

export function refusePost({ workspace, channel }: Target, thread: string | undefined): void {
  const word =
    policyOf(workspace, 'posts', { channel, thread }) ??
    policyOf(workspace, thread ? 'threads' : 'topLevel', { channel, thread });
  if (word) throw new SlackError(word);
}

/** Of the words for threads Slack gives an ephemeral message only these two. */
export function refuseEphemeral({ workspace, channel }: Target, thread: string | undefined): void {
  const inThread = thread ? policyOf(workspace, 'threads', { channel, thread }) : undefined;
  const word =
    policyOf(workspace, 'ephemerals', { channel, thread }) ??
    (policyOf(workspace, 'posts', { channel, thread }) ? 'restricted_action' : undefined) ??
    (inThread === 'cannot_reply_to_message' ? inThread : inThread && 'restricted_action');
  if (word) throw new SlackError(word);
}

export function refuseEdit({ workspace, channel }: Target): void {
  const word = policyOf(workspace, 'edits', { channel });
  if (word) throw new SlackError(word);
}

export function refuseLongBlocks(workspace: Workspace, blocks: readonly Json[]): void {
  const most = policyOf(workspace, 'longestBlocks');
  if (most !== undefined && JSON.stringify(blocks).length > most) throw new SlackError('msg_blocks_too_long');
}

/** Refuses a file before its bytes come. */
export function refuseUpload(workspace: Workspace, filetype: string): void {
  const word = policyOf(workspace, 'uploads');
  const isImage = ['png', 'jpg', 'jpeg', 'gif', 'webp'].includes(filetype);
  if (word && !(word === 'file_uploads_except_images_disabled' && isImage)) throw new SlackError(word);
  refuseType(workspace, filetype);
}

function refuseType(workspace: Workspace, filetype: string): void {
  const allowed = policyOf(workspace, 'fileTypes');
  if (allowed && !allowed.includes(filetype)) throw new SlackError('file_type_not_allowed');
}

/** Refuses files that came already to a channel. */
export function refuseSharing(
  { workspace, channel }: Target,
  files: readonly SlackFile[],
  thread: string | undefined,
): void {
  for (const file of files) refuseType(workspace, file.filetype);
  const where = { channel, thread };
  const isClosed =
    policyOf(workspace, 'sharing', where) ??
    policyOf(workspace, 'posts', where) ??
    policyOf(workspace, thread ? 'threads' : 'topLevel', where);
  if (isClosed) throw new SlackError('posting_to_channel_denied');
}
