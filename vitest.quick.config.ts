import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, mergeConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** What starts or ends processes, a browser, Postgres or threads, and what tests the sandbox or files beside Deckhand. */
const OUTSIDE = [
  'test/commands/activity/activity.test.ts',
  'test/commands/digests/digest.test.ts',
  'test/deploy/**/*.test.ts',
  'test/{drain,drain-process}.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/jobs/**/*.test.ts',
  'test/journeys.test.ts',
  'test/kill-matrix/**/*.test.ts',
  'test/installing/{lifecycle,tokens}.test.ts',
  'test/observability/{jobs,process}.test.ts',
  'test/process/**/*.test.ts',
  'sandbox/**/*.test.ts',
  'test/scheduler/digests/digest.test.ts',
  'test/scheduler/invoices/notices.test.ts',
  'test/recipes/**/*.test.ts',
  'test/security/{isolation,sealed,typed,uninstall,walk}.test.ts',
  'test/store/*.test.ts',
  'test/cli/**/*.test.ts',
  'test/trust/starvation.test.ts',
];

/**
 * What takes or waits for about a second and more: features gone through in every variant, made-up data by the hundred, and proofs
 * over all commands. Most of these features have other files among the quick ones.
 */
const LONG = [
  'test/commands/accounts/{keys,signup}.test.ts',
  'test/commands/activity/{months,waiting}.test.ts',
  'test/commands/admin/{audit,doctor,roles,settings}.test.ts',
  'test/commands/{episodes,guards,phrasings,setup}/*.test.ts',
  'test/commands/help/help.test.ts',
  'test/commands/home/home.test.ts',
  'test/commands/integrations/{add,edit,list-and-remove}.test.ts',
  'test/commands/{ask-after-checking,edit-forms,odd-records}.test.ts',
  'test/commands/projects/{renamed,server-words,typed-names}.test.ts',
  'test/commands/servers/{add,beta,followed,hosting,order}.test.ts',
  'test/commands/test-access/{outcomes,shortcuts,test}.test.ts',
  'test/commands/unfurls/{details,unfurl}.test.ts',
  'test/commands/watches/{mine,servers}.test.ts',
  'test/commands/workflows/steps.test.ts',
  'test/corpus/corpus.test.ts',
  'test/errors/*.test.ts',
  'test/core/retry.test.ts',
  'test/listeners/{doors,listeners,mcp,mentions,people,progress,submissions,threads}.test.ts',
  'test/listeners/receivers/{misshapen,socket-mode}.test.ts',
  'test/linking/{identity,link,setup}.test.ts',
  'test/observability/traces.test.ts',
  'test/records/{ledger,recoveries}.test.ts',
  'test/releases/releases.test.ts',
  'test/scheduler/refusals.test.ts',
  'test/scheduler/{channels,episodes,guards,watches}/*.test.ts',
  'test/scheduler/digests/since-last.test.ts',
  'test/scheduler/schedules/{accounts,chain,clock-jumps}.test.ts',
  'test/scheduler/slack-outage.test.ts',
  'test/scheduler/test-access/thread.test.ts',
  'test/security/{one-token,patterns,matrix/matrix}.test.ts',
  'test/service/{drift,long-lists}.test.ts',
  'test/slack/{refused,repeats,scopes}.test.ts',
  'test/spec-fields.test.ts',
  'test/trust/unreadable.test.ts',
  'test/views/cadence.test.ts',
  'test/workspace/{offered-calls,retention}.test.ts',
];

export default mergeConfig(
  config,
  defineConfig({
    test: {
      exclude: [...configDefaults.exclude, ...OUTSIDE, ...LONG],
      // Few of these wait, and each worker loads all modules.
      maxWorkers: availableParallelism() + 1,
    },
  }),
);
