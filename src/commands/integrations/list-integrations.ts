import { z } from 'zod';
import { isSameProject, type ProjectRef, projectId } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import type { RememberedIntegration } from '../../records/known-integrations.ts';
import type { SkippedRows } from '../../service/call.ts';
import { INTEGRATION_FLAGS, type Integration, listIntegrations } from '../../service/integrations.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import {
  type IntegrationList,
  integrationsMessage,
  type ShownIntegration,
} from '../../views/integrations/integration-messages.ts';
import { shownName } from '../../views/integrations/integration-modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineCommand } from '../command.ts';
import { replyPrivately } from '../replies.ts';

export const integrationList = defineCommand({
  name: 'integration list',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  synonyms: ['integrations', 'webhooks', 'webhook', 'hooks', 'hook'],
  phrases: { 'slack|email|webhook|hook integration|integrations|notifications *': '$1' },
  alone: 'integration',
  summary: 'Lists a project’s integrations',
  usage: '[project]',
  examples: ['integration list storefront'],
  role: 'operator',
  target: 'project',
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async handle(_, { workspace }, { account, project }) {
    const { list, skipped } = await readIntegrations(workspace, account, project);
    return replyPrivately(withSkipped(integrationsMessage(list), skipped, list.integrations));
  },
});

/** A project's integrations at the service, else those that were set up with Deckhand. @throws AccountFailure */
export async function readIntegrations(
  { integrations, offered, config }: Workspace,
  account: Account,
  project: ProjectRef,
): Promise<{ list: IntegrationList; skipped: SkippedRows[] }> {
  const skipped: SkippedRows[] = [];
  const [listed, all] = await Promise.all([
    offered.use(
      account,
      'GET /projects/{}/integrations',
      (client) => listIntegrations(client, projectId(project), { skipped }),
      { what: `project ${project.permalink}`, list: 'projects' },
    ),
    integrations.list(),
  ]);
  const remembered = all.filter((one) => one.account === account.name && isSameProject(one.project, project));
  const list = {
    account: account.name,
    project,
    integrations:
      listed?.map((row) => toShown(row, remembered)) ??
      remembered.map((one) => ({ identifier: undefined, ...one })),
    isWhole: listed !== undefined,
    wireNames: config.SERVICE_HOOK_TYPES,
    word: config.SLACK_COMMAND,
  };
  return { list, skipped };
}

function toShown(row: Integration, remembered: readonly RememberedIntegration[]): ShownIntegration {
  const { identifier, hook_type: hookType = '', name = identifier } = row;
  const own = remembered.find((one) =>
    one.identifier === undefined
      ? one.hookType === hookType && one.name === shownName(name)
      : one.identifier === identifier,
  );
  const flags = INTEGRATION_FLAGS.filter((flag) => row[flag] === true);
  return { id: own?.id, identifier, hookType, name: shownName(name), flags };
}
