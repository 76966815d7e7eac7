import { z } from 'zod';
import { isSameProject, type ProjectRef, projectId } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import type { RememberedIntegration } from '../../records/known-integrations.ts';
import type { SkippedRows } from '../../service/call.ts';
import { INTEGRATION_FLAGS, type Integration, listIntegrations } from '../../service/integrations.ts';
import { withSkipped } from '../../views/blocks/lists.ts';
import { integrationsMessage, type ShownIntegration } from '../../views/integrations/integration-messages.ts';
import { shownName } from '../../views/integrations/integration-modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineCommand } from '../command.ts';
import { replyPrivately } from '../replies.ts';

export const integrationList = defineCommand({
  name: 'integration list',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  synonyms: ['integrations', 'webhooks', 'hooks'],
  alone: 'integration',
  summary: 'Lists a project’s integrations',
  usage: '[project]',
  examples: ['integration list storefront'],
  role: 'operator',
  target: 'project',
  rest: true,
  args: z.object({ project: z.string().optional() }),
  async handle(_, { workspace }, { account, project }) {
    const { integrations, isWhole, skipped } = await readIntegrations(workspace, account, project);
    const { SERVICE_HOOK_TYPES: wireNames, SLACK_COMMAND: word } = workspace.config;
    const list = { account: account.name, project, integrations, isWhole, wireNames, word };
    return replyPrivately(withSkipped(integrationsMessage(list), skipped, integrations));
  },
});

interface Integrations {
  integrations: ShownIntegration[];
  /** False if the service does not list integrations. */
  isWhole: boolean;
  skipped: SkippedRows[];
}

/** A project's integrations at the service, else those that were set up with Deckhand. @throws AccountFailure */
export async function readIntegrations(
  { integrations, offered }: Workspace,
  account: Account,
  project: ProjectRef,
): Promise<Integrations> {
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
  if (listed === undefined)
    return {
      integrations: remembered.map((one) => ({ identifier: undefined, ...one })),
      isWhole: false,
      skipped,
    };
  return { integrations: listed.map((row) => toShown(row, remembered)), isWhole: true, skipped };
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
