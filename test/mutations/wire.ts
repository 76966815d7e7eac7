import type { Mutation } from './mutation.ts';

const MRKDWN = 'src/core/mrkdwn.ts';
const ADDRESSES = 'src/service/addresses.ts';
const MRKDWN_TEST = 'test/core/mrkdwn.test.ts';
const ACCOUNT_NAME_TEST = 'test/service/account-name.test.ts';

/** What leaves: addresses that are called, text that Slack shows, lines of the log. */
export const WIRE: readonly Mutation[] = [
  {
    name: 'a response address leads anywhere',
    file: 'src/slack/web.ts',
    from: 'if (address === null || !isAllowed(address, allowedHosts)) {',
    to: 'if (address === null || isAllowed === undefined) {',
    tests: ['test/slack/response-url.test.ts'],
  },
  {
    name: 'a response address needs no https',
    file: 'src/slack/web.ts',
    from: "if (parsed.protocol !== 'https:' && !(isLoopback && parsed.protocol === 'http:')) return false;",
    to: '',
    tests: ['test/slack/response-url.test.ts'],
  },
  {
    name: 'an invoice is fetched, with the key, from any host',
    file: 'src/service/transport.ts',
    from: 'url.origin === origin && ',
    to: "origin !== '' && ",
    tests: ['test/service/invoices.test.ts'],
  },
  {
    name: 'whatever comes as an invoice is shown as a PDF',
    file: 'src/service/invoices.ts',
    from: 'if (isPdf && answer.body.subarray(0, PDF_MAGIC.length).equals(PDF_MAGIC)) return answer.body;',
    to: 'if (isPdf || PDF_MAGIC.length > 0) return answer.body;',
    tests: ['test/service/invoices.test.ts'],
  },
  {
    name: 'an account name may be a host or look like another one',
    file: ADDRESSES,
    from: "return SLUG.test(text) && !text.startsWith('xn--');",
    to: "return SLUG.test(text) || text.includes('.');",
    tests: [ACCOUNT_NAME_TEST],
  },
  {
    name: 'an account name may be punycode',
    file: ADDRESSES,
    from: "return SLUG.test(text) && !text.startsWith('xn--');",
    to: 'return SLUG.test(text);',
    tests: [ACCOUNT_NAME_TEST],
  },
  {
    name: 'a link of another origin is read as one of the account',
    file: ADDRESSES,
    from: 'if (url.origin !== base.origin || ',
    to: 'if (',
    tests: ['test/service/addresses.test.ts', 'test/commands/unfurls/unfurl.test.ts'],
  },
  {
    name: 'secrets may be sent without https',
    file: ADDRESSES,
    from: "if (protocol === 'https:' || (protocol === 'http:' && isThisMachine(hostname))) return undefined;",
    to: "if (protocol === 'https:' || (protocol === 'http:' && isLoopback !== undefined)) return undefined;\n  void hostname;",
    tests: ['test/config.test.ts', ACCOUNT_NAME_TEST],
  },
  {
    name: 'foreign text is not escaped',
    file: MRKDWN,
    from: 'return escapeMarkup(sanitize(foreign, max));',
    to: 'void escapeMarkup;\n  return sanitize(foreign, max);',
    tests: [MRKDWN_TEST],
  },
  {
    name: 'direction marks of foreign text are kept',
    file: MRKDWN,
    from: ".replace(INVISIBLE, '')",
    to: '.replace(INVISIBLE, (mark) => mark)',
    tests: [MRKDWN_TEST],
  },
  {
    name: 'Slack makes links of plain words in text with markup',
    file: MRKDWN,
    from: "return { type: 'mrkdwn', text, verbatim: true };",
    to: "return { type: 'mrkdwn', text } as Markup;",
    tests: ['test/security/walk.test.ts'],
  },
  {
    name: 'addresses in the plain text of a message are live',
    file: 'src/core/mrkdwn.ts',
    from: 'text: truncate(withoutLiveAddresses(text), MAX_TEXT)',
    to: 'text: truncate(withoutLiveAddresses === undefined ? "" : text, MAX_TEXT)',
    tests: ['test/security/walk.test.ts'],
  },
  {
    name: 'what was typed stands in the log of its refusal',
    file: 'src/observability/log.ts',
    from: "log.info({ event: 'refused', ...fields }, ",
    to: "log.info({ event: 'refused', ...fields, reason: error.message }, ",
    tests: ['test/security/typed.test.ts'],
  },
  {
    name: 'typed text of any length is worked on',
    file: 'src/commands/command-router.ts',
    from: 'const MAX_TYPED = 3_000;',
    to: 'const MAX_TYPED = 30_000_000;',
    tests: ['test/commands/tokenize.test.ts'],
  },
  {
    name: 'error bodies of any size are read',
    file: 'src/service/transport.ts',
    from: 'Math.min(maxBytes, ERROR_BYTES)',
    to: 'Math.max(maxBytes, ERROR_BYTES)',
    tests: ['test/service/transport.test.ts'],
  },
  {
    name: 'two spellings of one name are two names',
    file: 'src/core/names.ts',
    from: ".normalize('NFKC')",
    to: '',
    tests: ['test/commands/accounts/me.test.ts'],
  },
];
