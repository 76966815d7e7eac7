import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ErrorCode, WebClient } from '@slack/web-api';
import { drawCorpus } from './corpus.ts';
import type { Sample, Shown } from './hand.ts';

const NO_TOKEN = `SLACK_PROVE_TOKEN is not set. Create an app at https://api.slack.com/apps from manifest.yml, install it in
a workspace of your own, and copy its bot token, which begins with xoxb-. It needs no scope for this. Then run
SLACK_PROVE_TOKEN=xoxb-… npm run prove:slack
`;

/** Writes what Slack says of the samples into the folder, of all by default. @throws where Slack gives no verdict */
export async function proveIn(
  folder: string,
  { SLACK_PROVE_TOKEN: token, SLACK_API_URL: slackApiUrl = 'https://slack.com/api/' }: NodeJS.ProcessEnv,
  samples?: readonly Sample[],
): Promise<{ code: number; said: string }> {
  if (!token) return { code: 78, said: NO_TOKEN };
  const proof = await prove(
    new WebClient(token, { slackApiUrl, allowAbsoluteUrls: false }),
    samples ?? drawCorpus(),
  );
  const today = new Date().toISOString().slice(0, 10);
  const file = join(folder, `slack-proof-${today}.md`);
  writeFileSync(file, reportOf(proof, today));
  const refused = proof.filter(({ faults }) => faults.length > 0).length;
  const said = `${proof.length} sent to Slack, ${refused} refused: ${file}\n`;
  return { code: refused === 0 ? 0 : 1, said };
}

/** What Slack says of a sample. @see {@link https://docs.slack.dev/reference/methods/blocks.validate} */
interface Fault {
  pointer?: string;
  code?: string;
  message?: string;
}

interface Proven {
  sample: Sample;
  faults: readonly Fault[];
}

/** Slack's words for a payload that it would not take; any other error is no verdict. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_message', 'invalid_view']);

/** Has Slack check each sample that it would be sent, one after the other. @throws where Slack gives no verdict */
async function prove(slack: Pick<WebClient, 'apiCall'>, samples: readonly Sample[]): Promise<Proven[]> {
  const proven: Proven[] = [];
  for (const sample of samples) {
    const payload = payloadOf(sample.shown);
    if (payload !== undefined) proven.push({ sample, faults: await faultsOf(slack, payload) });
  }
  return proven;
}

/** Pages are for browsers, and the method does not check the cards under links. */
function payloadOf(shown: Shown): Record<string, unknown> | undefined {
  if (Array.isArray(shown)) return { blocks: shown };
  if ('entity_payload' in shown || 'next' in shown) return undefined;
  return 'type' in shown ? { view: shown } : { message: { text: shown.text, blocks: shown.blocks } };
}

async function faultsOf(
  slack: Pick<WebClient, 'apiCall'>,
  payload: Record<string, unknown>,
): Promise<readonly Fault[]> {
  try {
    await slack.apiCall('blocks.validate', payload);
    return [];
  } catch (error) {
    const data = answerIn(error);
    if (data === undefined || !REFUSALS.has(data.error)) throw error;
    return data.errors?.length ? data.errors : [{ code: data.error }];
  }
}

function answerIn(error: unknown): { error: string; errors?: Fault[] } | undefined {
  const isAnswer = error instanceof Error && 'code' in error && error.code === ErrorCode.PlatformError;
  return isAnswer && 'data' in error ? (error.data as { error: string; errors?: Fault[] }) : undefined;
}

/** The outcome as Markdown: first by type of block, for what is new to Slack, then each refusal. */
function reportOf(proven: readonly Proven[], day: string): string {
  const refused = proven.filter(({ faults }) => faults.length > 0);
  const types = [...new Set(proven.flatMap(({ sample }) => typesIn(sample.shown)))].toSorted();
  const rows = types.map((type) => {
    const holding = proven.filter(({ sample }) => typesIn(sample.shown).includes(type));
    return `| ${type} | ${holding.length} | ${holding.filter((one) => refused.includes(one)).length} |`;
  });
  const faults = refused.map(({ sample, faults: found }) =>
    [
      `- ${sample.builder}, ${sample.what}, ${sample.hand}`,
      ...found.map(({ pointer = '', code = '', message = '' }) => `  - \`${pointer}\` ${code}: ${message}`),
    ].join('\n'),
  );
  return `# What Slack says of Deckhand's messages, ${day}

\`blocks.validate\` was asked about ${proven.length} messages, forms and homes: it refuses ${refused.length}.

| block | in | refused |
| --- | ---: | ---: |
${rows.join('\n')}

${faults.length === 0 ? 'None is refused.' : `## Refused\n\n${faults.join('\n')}`}
`;
}

function typesIn(shown: Shown): string[] {
  const blocks = Array.isArray(shown) ? shown : 'blocks' in shown ? shown.blocks : [];
  return [...new Set(blocks.map(({ type }) => type))];
}
