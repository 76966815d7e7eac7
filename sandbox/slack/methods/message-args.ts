import { z } from 'zod';
import { explain } from '../block-kit/explain.ts';
import { LIMITS } from '../block-kit/limits.ts';
import { checkMessageBlocks } from '../block-kit/message.ts';
import { tellSent } from '../block-kit/sent.ts';
import type { Json, Workspace } from '../state/types.ts';
import { structured, text } from '../web-api/args.ts';
import { refusal, SlackError } from '../web-api/errors.ts';
import { checkInWorkspace } from './workspace-blocks.ts';

/** The arguments that say what a message is made of. */
export const contentArgs = {
  text: text.optional(),
  blocks: structured.optional(),
  attachments: structured.optional(),
  metadata: structured.optional(),
  markdown_text: text.optional(),
};

export interface Content {
  text: string;
  blocks: Json[];
  attachments: Json[];
  metadata: Json | undefined;
}

interface ContentArgs {
  text?: string | undefined;
  blocks?: unknown;
  attachments?: unknown;
  metadata?: unknown;
  markdown_text?: string | undefined;
}

/** Checks everything Slack refuses in a message, and says so as it does. */
export function readContent(workspace: Workspace, args: ContentArgs): Content {
  if (args.markdown_text !== undefined && (args.text !== undefined || args.blocks !== undefined)) {
    throw new SlackError('markdown_text_conflict');
  }
  const words = args.text ?? args.markdown_text ?? '';
  const content = {
    text: words,
    blocks: readBlocks(workspace, args.blocks, '/blocks', words),
    attachments: readAttachments(workspace, args.attachments),
    metadata: readMetadata(args.metadata),
  };
  if (content.text === '' && content.blocks.length === 0 && content.attachments.length === 0) {
    throw new SlackError('no_text');
  }
  return content;
}

/** @throws SlackError `invalid_blocks` with every fault, `invalid_blocks_format` where it is no list at all */
export function readBlocks(workspace: Workspace, blocks: unknown, root = '/blocks', words?: string): Json[] {
  if (blocks === undefined || blocks === null || blocks === '') return [];
  if (!Array.isArray(blocks)) throw new SlackError('invalid_blocks_format');
  const broken = checkMessageBlocks(blocks, root);
  tellSent({ kind: 'message', content: { text: words, blocks }, faults: broken });
  const faults = [...checkInWorkspace(workspace, blocks, root), ...broken];
  if (faults.length > 0) throw refusal('invalid_blocks', faults);
  return blocks;
}

function readAttachments(workspace: Workspace, attachments: unknown): Json[] {
  if (attachments === undefined || attachments === null || attachments === '') return [];
  const parsed = z.array(z.record(z.string(), z.unknown())).safeParse(attachments);
  if (!parsed.success) throw new SlackError('invalid_attachments');
  if (parsed.data.length > LIMITS.attachments) throw new SlackError('too_many_attachments');
  parsed.data.forEach((attachment, at) => {
    readBlocks(workspace, attachment.blocks, `/attachments/${at}/blocks`);
  });
  return parsed.data;
}

const Metadata = z.strictObject({
  event_type: z.string(),
  event_payload: z.record(z.string(), z.unknown()),
});

function readMetadata(metadata: unknown): Json | undefined {
  if (metadata === undefined || metadata === null || metadata === '') return undefined;
  const parsed = Metadata.safeParse(metadata, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw refusal('invalid_metadata_format', explain(parsed.error.issues, '/metadata'));
}
