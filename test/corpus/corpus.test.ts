import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../sandbox/slack/block-kit/view.ts';
import { shortcodes } from '../../sandbox/slack/web/src/emoji/shortcodes.ts';
import { expectAccepted } from '../support/accepted.ts';
import { CORPUS, drawCorpus } from './corpus.ts';
import { proveIn } from './prove.ts';

const ROOT = join(import.meta.dirname, '..', '..');

describe('whoever wrote the texts in it, Slack takes', () => {
  it.each(CORPUS)('$builder', ({ samples }) => {
    for (const { what, hand, shown } of samples()) {
      if ('entity_payload' in shown || 'next' in shown) continue;
      expect(() => expectAccepted(shown), `${what}, ${hand}`).not.toThrow();
    }
  });
});

describe('the corpus', () => {
  /** What blocks, forms and messages are made of: each is met through what they are in. */
  const PARTS = /\/blocks\/(?:inputs|lists|message|modal)\.ts$/;
  const SHOWN = /\b(?:Message|ModalView|HomeView|News|Page|EntityMetadata|\w*Block)\b/;

  const builders = globSync('src/views/**/*.ts', { cwd: ROOT }).flatMap((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    const heads = source.matchAll(/^export (?:async )?function (\w+)[\s\S]*?\): ([^\n]+) \{\n/gm);
    const made = [...heads].filter(([, , type = '']) => SHOWN.test(type));
    return made.map(([, name = '']) => name).filter((name) => !PARTS.test(file) || /Message$/.test(name));
  });

  it.each(builders.filter((name) => !IN_OTHERS.has(name)))('has %s', (name) => {
    expect(CORPUS.map(({ builder }) => builder)).toContain(name);
  });
});

it('every emoji has its picture in the local Slack', () => {
  const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const names = sources.flatMap((source) =>
    [...source.matchAll(/[`'( ]:([a-z_]+):[`' ]/g)].map(([, name]) => name),
  );
  expect(names).toContain('white_check_mark');
  expect(names.filter((name = '') => shortcodes[name] === undefined)).toEqual([]);
});

/** Parts of forms and messages that stand in a file of their own; the forms are in the corpus. */
const IN_OTHERS: ReadonlySet<string> = new Set([
  'accountInput',
  'escalationInputs',
  'projectBlock',
  'testServerButton',
  'accessButton',
  'withFooterChange',
  'withCharts',
  'failureBlocks',
  'factBlocks',
  'placeLine',
  'recoveryBlocks',
]);

/** Slack's method as its documentation has it: a form post with one of three payloads as JSON, and each fault by pointer. */
async function startValidator(token: string) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const answer =
      request.headers.authorization === `Bearer ${token}`
        ? verdictOn(form)
        : { ok: false, error: 'invalid_auth' };
    asked.push(`${request.url} ${[...form.keys()].join()}`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { asked, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/` };
}

function verdictOn(form: URLSearchParams) {
  const [[kind = '', text = ''] = []] = [...form].filter(([key]) =>
    ['blocks', 'message', 'view'].includes(key),
  );
  const payload = JSON.parse(text);
  const faults =
    kind === 'view'
      ? checkView(payload, payload.type)
      : checkMessageBlocks(kind === 'blocks' ? payload : payload.blocks);
  // A workspace that does not know charts yet.
  const at = (payload.blocks ?? payload).findIndex(
    (block: { type: string }) => block.type === 'data_visualization',
  );
  const unknown =
    at === -1 ? [] : [{ pointer: `/blocks/${at}/type`, code: 'failed_constraint', message: 'unknown type' }];
  const errors = [
    ...faults.map((message) => ({ pointer: '/blocks', code: 'failed_constraint', message })),
    ...unknown,
  ];
  return errors.length === 0 ? { ok: true } : { ok: false, error: `invalid_${kind}`, errors };
}

describe('npm run prove:slack', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'deckhand-proof-'));
  const some = drawCorpus().filter(({ builder }, at) => at % 8 === 0 || builder === 'digestMessage');

  it('says how to get a token where there is none', async () => {
    const { code, said } = await proveIn(folder(), {});
    expect(code).toBe(78);
    expect(said).toContain('SLACK_PROVE_TOKEN=xoxb-');
  });

  it('has Slack check what it is given, and writes down what it refuses, where and why', async () => {
    const { asked, server, url } = await startValidator('xoxb-proof');
    const there = folder();
    const { code, said } = await proveIn(
      there,
      { SLACK_PROVE_TOKEN: 'xoxb-proof', SLACK_API_URL: url },
      some,
    );
    server.close();
    const [file = ''] = globSync('slack-proof-*.md', { cwd: there });
    const report = readFileSync(join(there, file), 'utf8');
    expect(code).toBe(1);
    expect(said).toContain(file);
    expect(new Set(asked)).toEqual(
      new Set(['blocks', 'message', 'view'].map((kind) => `/api/blocks.validate ${kind}`)),
    );
    expect(report).toMatch(/\| plan \| \d+ \| 0 \|/);
    expect(report).toMatch(/\| data_visualization \| (\d+) \| \1 \|/);
    expect(report).toContain('- digestMessage, of an account, usual\n  - `/blocks/');
    expect(report).not.toContain('xoxb-proof');
  });

  it('ends where Slack gives no verdict', async () => {
    const { server, url } = await startValidator('another');
    const proving = proveIn(folder(), { SLACK_PROVE_TOKEN: 'xoxb-proof', SLACK_API_URL: url }, some);
    await expect(proving).rejects.toThrow('invalid_auth');
    server.close();
  });
});
