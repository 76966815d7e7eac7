import { z } from 'zod';
import { unescapeText } from '../deliver/typed-text.ts';
import { announce, findMessage } from '../state/messages.ts';
import type { Json } from '../state/types.ts';
import { flag, jsonObject, structured, text } from '../web-api/args.ts';
import { refusal, SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod } from '../web-api/method.ts';
import { readEntity } from './entities.ts';
import { readBlocks } from './message-args.ts';

const UnfurlArgs = z.object({
  channel: text.optional(),
  ts: text.optional(),
  unfurl_id: text.optional(),
  source: text.optional(),
  unfurls: jsonObject.optional(),
  metadata: structured.optional(),
  user_auth_required: flag.optional(),
  user_auth_message: text.optional(),
  user_auth_url: text.optional(),
  user_auth_blocks: structured.optional(),
});

export const unfurlMethod = defineMethod({
  name: 'chat.unfurl',
  scopes: ['links:write'],
  tier: 3,
  json: true,
  args: UnfurlArgs,
  run: unfurl,
});

/** Hangs what the app knows about a link under the message that holds it. */
function unfurl(call: Call, args: z.infer<typeof UnfurlArgs>): Json {
  if (!args.unfurls && args.metadata === undefined) throw new SlackError('missing_unfurls');
  const { channel: channelId, ts } = whereOf(args);
  if (!channelId) throw new SlackError('missing_channel');
  if (!ts) throw new SlackError('missing_ts');
  const { workspace, channel } = call.channel(channelId);
  const stored = findMessage(workspace, channel.id, ts);
  if (!stored) throw new SlackError('cannot_find_message');
  const said = unescapeText(stored.record.text);
  const cards = readCards(call, said, args.metadata);
  const attachments = Object.entries(args.unfurls ?? {}).map(([url, content]): Json => {
    if (!said.includes(url) || !isOurs(call, url)) throw new SlackError('cannot_unfurl_url');
    if (typeof content !== 'object' || content === null) throw refusal('invalid_unfurls_format', []);
    const { blocks } = content as Json;
    readBlocks(workspace, blocks, `/unfurls/${url}/blocks`);
    return { ...(content as Json), from_url: url, app_unfurl_url: url, is_app_unfurl: true };
  });
  for (const [url, entity] of cards) {
    const under = attachments.find((one) => one.app_unfurl_url === url);
    if (under) Object.assign(under, { work_object_entity: entity });
    else attachments.push({ app_unfurl_url: url, is_app_unfurl: true, work_object_entity: entity });
  }
  stored.record = { ...stored.record, attachments: [...(stored.record.attachments ?? []), ...attachments] };
  announce(call.world, workspace, stored);
  return {};
}

/** Work objects by the link that they stand for. */
function readCards(call: Call, said: string, metadata: unknown): [url: string, entity: Json][] {
  if (metadata === undefined) return [];
  const { data } = z.object({ entities: z.array(z.unknown()).min(1) }).safeParse(metadata);
  if (!data) throw new SlackError('invalid_metadata_format');
  return data.entities.map((entity) => {
    const read = readEntity(call.world.app, entity, 'error_processing_metadata');
    const url = String(read.app_unfurl_url);
    if (!said.includes(url) || !isOurs(call, url)) throw new SlackError('cannot_unfurl_url');
    return [url, read];
  });
}

/** A link is named by channel and ts, or by the unfurl_id of its event, which holds both. */
function whereOf(args: z.infer<typeof UnfurlArgs>): { channel: string | undefined; ts: string | undefined } {
  if (!args.unfurl_id) return { channel: args.channel, ts: args.ts };
  if (!args.source) throw new SlackError('missing_source');
  const [channel, ts] = args.unfurl_id.split('-');
  if (!channel || !ts) throw new SlackError('invalid_unfurl_id');
  return { channel, ts };
}

function isOurs(call: Call, url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return call.world.app.unfurlDomains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
