import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ErrorCode, WebClient } from '@slack/web-api';
import { describeEntry, type Entry, openCorpus, pickShapes } from './recording.ts';

const NO_TOKEN = `SLACK_PROVE_TOKEN is not set. Create an app at https://api.slack.com/apps from manifest.yml, install it in
a workspace of your own, and copy its bot token, which begins with xoxb-. It needs no scope for this. Then run
SLACK_PROVE_TOKEN=xoxb-… npm run prove:slack
test/corpus/README.md says how to get a workspace for free.
`;

/**
 * Has Slack check each shape of the entries, and writes its report into the folder.
 *
 * @throws if Slack gives no verdict
 */
export async function proveIn(
  folder: string,
  { SLACK_PROVE_TOKEN: token, SLACK_API_URL: slackApiUrl = 'https://slack.com/api/' }: NodeJS.ProcessEnv,
  open: () => readonly Entry[] = openCorpus,
): Promise<{ code: number; text: string }> {
  if (!token) return { code: 78, text: NO_TOKEN };
  const slack = new WebClient(token, { slackApiUrl, allowAbsoluteUrls: false });
  // An unusable token is told before the tests run.
  await slack.apiCall('auth.test');
  const verdicts: Verdict[] = [];
  for (const entry of pickShapes(open())) verdicts.push({ entry, faults: await askSlack(slack, entry) });
  const today = new Date().toISOString().slice(0, 10);
  const file = join(folder, `slack-proof-${today}.md`);
  writeFileSync(file, describeProof(verdicts, today));
  const rejected = verdicts.filter(({ faults }) => faults.length > 0).length;
  const text = `${verdicts.length} sent to Slack, ${rejected} rejected: ${file}\n`;
  return { code: rejected === 0 ? 0 : 1, text };
}

/** One fault that Slack finds. @see {@link https://docs.slack.dev/reference/methods/blocks.validate} */
interface Fault {
  pointer?: string;
  code?: string;
  message?: string;
}

interface Verdict {
  entry: Entry;
  faults: readonly Fault[];
}

/** Slack's words for a payload that it rejects; any other error is no verdict. */
const REJECTIONS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_message', 'invalid_view']);

async function askSlack(
  slack: Pick<WebClient, 'apiCall'>,
  { kind, content }: Entry,
): Promise<readonly Fault[]> {
  try {
    await slack.apiCall('blocks.validate', kind === 'message' ? { message: content } : { view: content });
    return [];
  } catch (error) {
    const data = findAnswer(error);
    if (data === undefined || !REJECTIONS.has(data.error)) throw error;
    return data.errors?.length ? data.errors : [{ code: data.error }];
  }
}

function findAnswer(error: unknown): { error: string; errors?: Fault[] } | undefined {
  const isAnswer = error instanceof Error && 'code' in error && error.code === ErrorCode.PlatformError;
  return isAnswer && 'data' in error ? (error.data as { error: string; errors?: Fault[] }) : undefined;
}

/** The report as Markdown: the outcome in its first line, then by type of block, then each rejection. */
function describeProof(verdicts: readonly Verdict[], day: string): string {
  const rejected = verdicts.filter(({ faults }) => faults.length > 0);
  const types = [...new Set(verdicts.flatMap(({ entry }) => listTypes(entry)))].toSorted();
  const rows = types.map((type) => {
    const holding = verdicts.filter(({ entry }) => listTypes(entry).includes(type));
    return `| ${type} | ${holding.length} | ${holding.filter((one) => rejected.includes(one)).length} |`;
  });
  const faults = rejected.map(({ entry, faults: all }) =>
    [
      `- ${describeEntry(entry)}`,
      ...all.map(({ pointer = '', code = '', message = '' }) => `  - \`${pointer}\` ${code}: ${message}`),
    ].join('\n'),
  );
  const outcome = rejected.length === 0 ? 'Slack takes all' : `Slack rejects ${rejected.length} of`;
  return `# ${outcome} ${verdicts.length} messages, forms and homes of Deckhand, ${day}

| block | in | rejected |
| --- | ---: | ---: |
${rows.join('\n')}
${faults.length === 0 ? '' : `\n## Rejected\n\n${faults.join('\n')}\n`}`;
}

function listTypes({ content }: Entry): string[] {
  const { blocks = [] } = content as { blocks?: { type: string }[] };
  return [...new Set(blocks.map(({ type }) => type))];
}

if (process.argv[1] === import.meta.filename) {
  const { code, text } = await proveIn(process.cwd(), process.env);
  (code === 78 ? process.stderr : process.stdout).write(text);
  process.exitCode = code;
}
