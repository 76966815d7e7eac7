import process from 'node:process';
import { describeEntry, type Entry, openCorpus } from './recording.ts';
import { visibleText } from './visible-words.ts';

/** Prints every message and form that the tests send to Slack, to be read aloud: `npm run corpus [-- <words>]`. */

const words = process.argv.slice(2).join(' ').toLowerCase();
const printed = openCorpus()
  .map((entry) => `── ${describeEntry(entry)}\n${describeContent(entry)}\n`)
  .filter((text) => text.toLowerCase().includes(words));
process.stdout.write(`${printed.toSorted().join('\n')}\n`);

function describeContent({ content }: Entry): string {
  const {
    title = {},
    submit,
    close,
    blocks = [],
  } = content as Record<string, object> & { blocks?: object[] };
  const parts = [title, ...blocks, { elements: [submit, close] }];
  const text = visibleText([{ blocks: parts }], ['confirm', 'deny', 'options', 'option_groups', 'alt_text']);
  return text
    .replace(/<!date\^[^|>]*\|([^>]*)>/g, '$1')
    .replace(/ {3,}/g, '  ')
    .replace(/\n\s*(?=\n|$)/g, '');
}
