import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Inline } from '../../../slack/web/src/mrkdwn/nodes.ts';
import { parseMrkdwn } from '../../../slack/web/src/mrkdwn/parse-mrkdwn.ts';

const text = (value: string): Inline => ({ type: 'text', text: value });
const mark = (type: 'bold' | 'italic' | 'strike', ...children: Inline[]): Inline => ({ type, children });
const link = (url: string, ...children: Inline[]): Inline => ({
  type: 'link',
  url,
  children: children.length > 0 ? children : [text(url)],
});
const user = (id: string): Inline => ({ type: 'user', id });
const emoji = (name: string): Inline => ({ type: 'emoji', name });
const bold = mark('bold', text('bold'));
const [italic, strike] = [mark('italic', text('italic')), mark('strike', text('gone'))];
const date = { timestamp: 1772443800, format: '{date} at {time}', url: 'https://a.example/' };

/** What one line of mrkdwn becomes. */
const lines: [line: string, nodes: Inline[]][] = [
  ['plain', [text('plain')]],
  ['*bold* _italic_ ~gone~', [bold, text(' '), italic, text(' '), strike]],
  ['*bold _and italic_*', [mark('bold', text('bold '), mark('italic', text('and italic')))]],
  ['2*3*4 and snake_case_name', [text('2*3*4 and snake_case_name')]],
  ['* not bold* and *open', [text('* not bold* and *open')]],
  ['(*bold*), yes', [text('('), bold, text('), yes')]],
  ['`*code* &amp; <@U1>`', [{ type: 'code', text: '*code* & <@U1>' }]],
  ['``', [text('``')]],
  ['&lt;b&gt; &amp;amp; &nbsp;', [text('<b> &amp; &nbsp;')]],
  ['<@U0MAX> <!here>', [user('U0MAX'), text(' '), { type: 'broadcast', range: 'here' }]],
  ['<#C1|deploys>', [{ type: 'channel', id: 'C1', label: 'deploys' }]],
  ['<!subteam^S1|@ops>', [{ type: 'usergroup', id: 'S1' }]],
  [
    '<https://a.example/?x=1&amp;y=2|the *bold* :x:>',
    [link('https://a.example/?x=1&y=2', text('the '), bold, text(' '), emoji('x'))],
  ],
  ['see https://a.example/b, or', [text('see '), link('https://a.example/b'), text(', or')]],
  ['<mailto:a@b.example|write>', [link('mailto:a@b.example', text('write'))]],
  ['<javascript:alert(1)|x>', [text('<javascript:alert(1)|x>')]],
  ['<script>x</script>', [text('<script>x</script>')]],
  [':tada: at 10:30:45', [emoji('tada'), text(' at 10'), emoji('30'), text('45')]],
  [
    '<!date^1772443800^{date} at {time}^https://a.example/|some day>',
    [{ type: 'date', ...date, fallback: 'some day' }],
  ],
  // Slack shows the fallback as it is: the only way to a sign that formats nothing.
  [
    '*a<!date^00000000^{_}|*>b* <!date^00000000^{_}|_>c_ <!date^00000000^{_}|`>d`',
    [mark('bold', text('a'), text('*'), text('b')), text(' '), text('_'), text('c_ '), text('`'), text('d`')],
  ],
  ['<!date^soon^{date}|x>', [text('<!date^soon^{date}|x>')]],
];

describe('mrkdwn', () => {
  it.each(lines)('reads %s', (line, nodes) => {
    expect(parseMrkdwn(line)).toEqual([{ type: 'paragraph', children: nodes }]);
  });

  it('takes any text, and makes links only of addresses one may follow', () => {
    const words = ['```', '&lt;', 'http://x', '!date^1^', 'javascript:'];
    const piece = fc.constantFrom(...'*_~`<>|:\n a', ...words);
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (pieces) => {
        const urls = parseMrkdwn(pieces.join('')).flatMap((block) =>
          block.type === 'pre' ? [] : urlsIn(block.children),
        );
        expect(urls.filter((url) => !/^(?:https?:\/\/|mailto:|tel:)/.test(url))).toEqual([]);
      }),
    );
  });
});

function urlsIn(nodes: readonly Inline[]): string[] {
  return nodes.flatMap((node) => {
    if (node.type === 'link') return [node.url];
    return 'children' in node ? urlsIn(node.children) : [];
  });
}
