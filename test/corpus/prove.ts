import { ErrorCode, type WebClient } from '@slack/web-api';
import type { Sample, Shown } from './hand.ts';

/** What Slack says of a sample. @see {@link https://docs.slack.dev/reference/methods/blocks.validate} */
interface Fault {
  pointer?: string;
  code?: string;
  message?: string;
}

export interface Proven {
  sample: Sample;
  faults: readonly Fault[];
}

/** Slack's words for a payload that it would not take; any other error is no verdict. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_message', 'invalid_view']);

/** Has Slack check each sample that it would be sent, one after the other. @throws where Slack gives no verdict */
export async function prove(
  slack: Pick<WebClient, 'apiCall'>,
  samples: readonly Sample[],
): Promise<Proven[]> {
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
export function reportOf(proven: readonly Proven[], day: string): string {
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
