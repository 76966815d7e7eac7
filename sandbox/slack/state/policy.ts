/**
 * What the people who run a workspace or a channel do not allow. Each is the word with which Slack refuses, and lasts
 * until it is taken away again.
 */
export interface Policy {
  /** Only in this channel, by id or name; else in the whole workspace. */
  channel?: string;
  /** Only in this thread of it, by the root's ts. */
  thread?: string;
  /** Every call for the workspace is refused. */
  access?: 'enterprise_is_restricted' | 'team_access_not_granted' | 'ekm_access_denied';
  /** Every message of the app is refused. */
  posts?: 'restricted_action' | 'restricted_action_read_only_channel';
  /** Messages that are no thread replies are refused. */
  topLevel?: 'restricted_action_thread_only_channel';
  /** Thread replies are refused. */
  threads?:
    | 'restricted_action'
    | 'restricted_action_non_threadable_channel'
    | 'restricted_action_thread_locked'
    | 'restricted_action_thread_only_channel'
    | 'cannot_reply_to_message';
  /** Edits of the app's messages are refused. */
  edits?: 'update_failed' | 'edit_window_closed' | 'is_inactive' | 'cant_update_message';
  /** Messages that one person would see are refused. */
  ephemerals?: 'user_not_in_channel' | 'not_in_channel' | 'channel_not_found' | 'is_archived';
  /** Answers to a response_url are refused, from the first. */
  responseUrls?: 'used_url' | 'expired_url';
  /** Files are refused when they are announced. */
  uploads?: 'file_uploads_disabled' | 'file_uploads_except_images_disabled' | 'storage_limit_reached';
  /** Files of other types than these are refused (`file_type_not_allowed`), e.g. `png`. */
  fileTypes?: readonly string[];
  /** Files are refused when they are shared in a channel. */
  sharing?: 'posting_to_channel_denied';
  /** Blocks that are longer as JSON are refused (`msg_blocks_too_long`). */
  longestBlocks?: number;
  /** Blocks of these types are refused (`invalid_blocks`), as by a workspace that does not have them yet. */
  refusedBlocks?: readonly string[];
}
