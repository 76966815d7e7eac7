import { z } from 'zod';
import { announceFile, fileRecord, filetypeOf } from '../state/files.ts';
import { botAuthor } from '../state/installs.ts';
import { storeMessage } from '../state/messages.ts';
import type { Json, SlackFile, Workspace } from '../state/types.ts';
import { structured, text, whole } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method, type Place } from '../web-api/method.ts';
import { refuseSharing, refuseUpload } from '../web-api/policies.ts';
import { readBlocks } from './message-args.ts';

const LARGEST = 1_000_000_000;
const MAX_ALT = 1000;

const AnnounceArgs = z.object({ filename: text, length: whole, alt_txt: text.optional() });

const CompleteArgs = z.object({
  files: structured.pipe(z.array(z.object({ id: z.string(), title: z.string().optional() })).min(1)),
  channel_id: text.optional(),
  channels: text.optional(),
  thread_ts: text.optional(),
  initial_comment: text.optional(),
  blocks: structured.optional(),
});

export const fileMethods: Method[] = [
  defineMethod({
    name: 'files.getUploadURLExternal',
    scopes: ['files:write'],
    tier: 4,
    json: false,
    args: AnnounceArgs,
    run: announce,
  }),
  defineMethod({
    name: 'files.completeUploadExternal',
    scopes: ['files:write'],
    tier: 4,
    json: true,
    args: CompleteArgs,
    run: complete,
  }),
  defineMethod({
    name: 'files.info',
    scopes: ['files:read'],
    tier: 4,
    json: false,
    args: z.object({ file: text }),
    run: (call, args) => {
      const { workspace, file } = findFile(call, args.file);
      return { file: fileRecord(call.world, workspace, file), comments: [] };
    },
  }),
  defineMethod({
    name: 'files.delete',
    scopes: ['files:write'],
    tier: 3,
    json: true,
    args: z.object({ file: text }),
    run: (call, args) => {
      const { workspace, file } = findFile(call, args.file);
      if (file.user !== workspace.installation?.botUserId) throw new SlackError('cant_delete_file');
      workspace.files.delete(file.id);
      call.world.changes.emit({ type: 'file', team: workspace.id, file: file.id });
      return {};
    },
  }),
];

/** An organisation's file belongs to no workspace until it is shared; here it waits in the first. */
function announce(call: Call, args: z.infer<typeof AnnounceArgs>): Json {
  const [workspace] = call.workspaces;
  const user = workspace?.installation?.botUserId;
  if (!workspace || !user) throw new SlackError('account_inactive');
  if (args.length < 1) throw new SlackError('missing_argument');
  if (args.length > LARGEST) throw new SlackError('file_upload_size_restricted');
  if ([...(args.alt_txt ?? '')].length > MAX_ALT) throw new SlackError('alt_txt_too_large');
  refuseUpload(workspace, filetypeOf(args.filename));
  const file = announceFile(call.world, workspace, {
    name: args.filename,
    size: args.length,
    altText: args.alt_txt,
    user,
  });
  return { upload_url: `${call.world.origin}/upload/v1/${file.uploadKey}`, file_id: file.id };
}

function complete(call: Call, args: z.infer<typeof CompleteArgs>): Json {
  const found = args.files.map(({ id, title }) => ({ ...findUploaded(call, id), title }));
  const channels = [args.channel_id, ...(args.channels?.split(',') ?? [])].filter((id) => id !== undefined);
  const places = channels.map((id) => findShareable(call, id));
  const files = found.map(({ file }) => file);
  for (const one of places) refuseSharing(one, files, args.thread_ts || undefined);
  const [place] = places;
  // A comment wins over blocks.
  const blocks = args.initial_comment || !place ? [] : readBlocks(place.workspace, args.blocks);
  for (const { file, title } of found) {
    Object.assign(file, { completed: true, title: title ?? file.title });
    call.world.uploads.delete(file.uploadKey);
  }
  for (const one of places) share(call, one, files, { ...args, blocks });
  for (const { workspace, file } of found) {
    call.world.changes.emit({ type: 'file', team: workspace.id, file: file.id });
  }
  return { files: files.map(({ id, title }) => ({ id, title })) };
}

function findUploaded(call: Call, id: string): { workspace: Workspace; file: SlackFile } {
  for (const workspace of call.workspaces) {
    const file = workspace.files.get(id);
    if (!file) continue;
    if (!file.bytes || file.completed) throw new SlackError('file_update_failed');
    return { workspace, file };
  }
  throw new SlackError('file_not_found');
}

function findShareable(call: Call, id: string): Place {
  const place = call.channel(id);
  if (place.channel.archived) throw new SlackError('posting_to_channel_denied');
  if (!place.channel.members.has(place.installation.botUserId)) throw new SlackError('not_in_channel');
  return place;
}

function share(
  call: Call,
  { workspace, channel, installation }: Place,
  files: SlackFile[],
  args: { thread_ts?: string | undefined; initial_comment?: string | undefined; blocks: Json[] },
): void {
  const author = botAuthor(call.world, installation);
  const { record } = storeMessage(call.world, workspace, channel, author, {
    text: args.initial_comment ?? '',
    blocks: args.blocks,
    thread_ts: args.thread_ts,
    files: files.map((file) => fileRecord(call.world, workspace, file)),
  });
  for (const file of files) {
    workspace.files.set(file.id, file);
    const thread = record.thread_ts ? { thread_ts: record.thread_ts } : {};
    file.shares.push({ channel: channel.id, ts: record.ts, ...thread });
  }
}

function findFile(call: Call, id: string): { workspace: Workspace; file: SlackFile } {
  for (const workspace of call.workspaces) {
    const file = workspace.files.get(id);
    if (file?.completed) return { workspace, file };
  }
  throw new SlackError('file_not_found');
}
