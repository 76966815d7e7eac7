import type { RichTextElement } from '@slack/types';
import type { Inline } from './nodes.ts';

/** Turns the pieces of a rich_text section into the nodes that mrkdwn becomes too. */
export function fromRichText(elements: RichTextElement[]): Inline[] {
  return elements.flatMap(fromElement);
}

function fromElement(element: RichTextElement): Inline[] {
  const style = element.style ?? {};
  if (style.code && element.type === 'text') return wrap([{ type: 'code', text: element.text }], style);
  return wrap(bare(element), style);
}

function wrap(nodes: Inline[], style: NonNullable<RichTextElement['style']>): Inline[] {
  const marks = [style.bold && 'bold', style.italic && 'italic', style.strike && 'strike'] as const;
  return marks.reduce<Inline[]>((children, type) => (type ? [{ type, children }] : children), nodes);
}

function bare(element: RichTextElement): Inline[] {
  switch (element.type) {
    case 'text':
      return lines(element.text);
    case 'link':
      return [{ type: 'link', url: element.url, children: lines(element.text ?? element.url) }];
    case 'emoji':
      return [{ type: 'emoji', name: element.name }];
    case 'user':
      return [{ type: 'user', id: element.user_id }];
    case 'channel':
      return [{ type: 'channel', id: element.channel_id }];
    case 'usergroup':
      return [{ type: 'usergroup', id: element.usergroup_id }];
    case 'team':
      return [{ type: 'team', id: element.team_id }];
    case 'broadcast':
      return [{ type: 'broadcast', range: element.range }];
    case 'date':
      return [dateNode(element)];
    case 'color':
      return [{ type: 'code', text: element.value }];
    default:
      return [];
  }
}

function dateNode(element: Extract<RichTextElement, { type: 'date' }>): Inline {
  const { timestamp, format, url, fallback } = element;
  return { type: 'date', timestamp, format, ...(url && { url }), ...(fallback && { fallback }) };
}

function lines(text: string): Inline[] {
  return text.split('\n').flatMap((line, index): Inline[] => {
    return index === 0 ? [{ type: 'text', text: line }] : [{ type: 'break' }, { type: 'text', text: line }];
  });
}
