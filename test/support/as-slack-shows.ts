import type { Inline } from '../../sandbox/slack/web/src/mrkdwn/nodes.ts';
import { parseMrkdwn } from '../../sandbox/slack/web/src/mrkdwn/parse-mrkdwn.ts';

/** The letters that Slack shows for a text with markup; ☺ for an emoji, @ for a mention, ❝ for a quotation. */
export function asSlackShows(text: string): string {
  return copyFromSlack(text).replaceAll('\u2060', '');
}

/** The same with the marks that nobody sees. */
export function copyFromSlack(text: string): string {
  const blocks = parseMrkdwn(text, true).map((block) =>
    block.type === 'pre'
      ? block.text
      : `${block.type === 'quote' ? '❝' : ''}${block.children.map(drawInline).join('')}`,
  );
  return blocks.join('\n');
}

/** The letters that Slack shows for a plain text object. */
export function asSlackShowsPlain(text: string, isEmojiAllowed: boolean): string {
  return isEmojiAllowed ? text.replace(/:[a-z0-9_+'-]{1,60}:/g, '☺') : text;
}

function drawInline(node: Inline): string {
  if ('children' in node) return node.children.map(drawInline).join('');
  if (node.type === 'text' || node.type === 'code') return node.text;
  if (node.type === 'break') return '\n';
  return node.type === 'emoji' ? '☺' : '@';
}
