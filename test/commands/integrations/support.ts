import type { FieldValues } from '../../../sandbox/slack/people.ts';
import type { OpenView } from '../../../sandbox/slack/state/types.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** The admin at a form of an integration. */
export function ann(world: TestWorld) {
  const actor = world.as('admin');
  const { slack, service } = world;

  function view(): OpenView {
    const shown = actor.openView();
    if (shown === undefined) throw new Error('no form is open');
    return shown;
  }

  return {
    actor,
    view,
    /** The form's fields, in their order. */
    fields: () =>
      view()
        .content.blocks.filter((block) => block.type === 'input')
        .map((block) => block.block_id),
    block: (id: string) => view().content.blocks.find((block) => block.block_id === id),
    async open(line: string): Promise<void> {
      await actor.command(CHANNEL, `/deckhand ${line}`);
      await slack.until(() => actor.openView() !== undefined);
    },
    /** Chooses in a menu that draws the form anew, and waits until it is. */
    async choose(actionId: string, selected: string): Promise<void> {
      const { id, hash } = view();
      await actor.click({ viewId: id }, { actionId, selected });
      await slack.until(() => view().hash !== hash);
    },
    /** A new one notifies of failures, unless the test says otherwise. */
    submit: (values: FieldValues) =>
      actor.submit(undefined, {
        ...(view().content.callback_id === 'integration.add' ? { flags: ['send_on_failure'] } : {}),
        ...values,
      }),
    /** What only the admin was told, the latest last. */
    told: () => slack.ephemerals(TEAM, PEOPLE.admin).map((message) => message.text),
    /** The integrations of the project at the service, as it keeps them. */
    kept(project = 'storefront') {
      const account = service.world.state.accounts.get(ACCOUNT);
      const found = account?.projects.find(({ permalink }) => permalink === project);
      return found?.integrations ?? [];
    },
    /** The bodies of the requests that changed something, secrets hidden. */
    sent: (method: 'POST' | 'PATCH') =>
      service.requests.all.filter((request) => request.method === method).map((request) => request.body),
  };
}
