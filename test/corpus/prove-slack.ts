import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { WebClient } from '@slack/web-api';
import { drawCorpus } from './corpus.ts';
import { prove, reportOf } from './prove.ts';

/** Has Slack itself check every message, form and home of the corpus: `npm run prove:slack`. */

const { SLACK_PROVE_TOKEN: token, SLACK_API_URL: slackApiUrl = 'https://slack.com/api/' } = process.env;
if (!token) {
  process.stderr.write(`SLACK_PROVE_TOKEN is not set. Create an app at https://api.slack.com/apps from manifest.yml, install it in
a workspace of your own, and copy its bot token, which begins with xoxb-. It needs no scope for this. Then run
SLACK_PROVE_TOKEN=xoxb-… npm run prove:slack
`);
  process.exit(78);
}
const proof = await prove(new WebClient(token, { slackApiUrl, allowAbsoluteUrls: false }), drawCorpus());
const today = new Date().toISOString().slice(0, 10);
const file = join(process.cwd(), `slack-proof-${today}.md`);
writeFileSync(file, reportOf(proof, today));
const refused = proof.filter(({ faults }) => faults.length > 0).length;
process.stdout.write(`${proof.length} sent to Slack, ${refused} refused: ${file}\n`);
process.exitCode = refused === 0 ? 0 : 1;
