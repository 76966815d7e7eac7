import { describe, expect } from 'vitest';
import { createInbox } from '../../src/listeners/inbox.ts';
import { readInteraction, readViewState } from '../../src/listeners/payloads/payloads.ts';
import { SubmissionBody } from '../../src/listeners/payloads/schemas.ts';
import { acknowledgeForm } from '../../src/listeners/pipeline/handle-submission.ts';
import type { SubmissionAck } from '../../src/listeners/pipeline/submission-view.ts';
import { openForm } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { CREDENTIALS, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

describe('a submitted form', () => {
  test.beforeEach(async ({ world }) => {
    await openForm(world, 'connect');
  });

  test('a submitted form is carried out once, however often it is clicked while it runs', async ({
    world,
  }) => {
    world.service.faults.add({ path: '/acme/profile', delayMs: 200, times: 1 });
    const ann = world.as('admin');
    const first = ann.submit('connect', CREDENTIALS);
    const second = ann.submit('connect');
    expect((await first).body).toBe((await second).body);
    const entries = await world.app.workspaces.open(TEAM).audit.latest(100);
    expect(entries.filter(({ entry }) => entry.what === 'connect')).toHaveLength(1);
  });

  test('a submitted form may be sent again after it came back with faults, though Slack keeps its hash', async ({
    world,
  }) => {
    const ann = world.as('admin');
    const hash = ann.openView()?.hash;
    const refused = await ann.submit('connect', { ...CREDENTIALS, api_key: 'WrongKey'.repeat(5) });
    expect(refused.errors).toHaveProperty('api_key');
    expect(ann.openView()?.hash).toBe(hash);
    expect((await ann.submit('connect', CREDENTIALS)).body).toContain('clear');
    const told = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin));
    await world.slack.until(() => told().includes('Connected'));
  });

  test('a submitted form that two replicas take at once is carried out by one, and both give its answer', async ({
    world,
  }) => {
    await world.as('admin').submit('connect', CREDENTIALS);
    const [one, other] = await Promise.all(['one', 'other'].map((click) => resend(world, click)));
    expect(one).toEqual(other);
    // Connected already, so that it asks what the key is for.
    expect(one).toMatchObject([{ response_action: 'update' }]);
    expect(JSON.stringify(one)).toContain('"purpose"');
    const done = 'deckhand_jobs_total{queue="requests",outcome="done"} 2';
    await expect.poll(() => world.app.parts.metrics.text()).toContain(done);
  });
});

/** The last form that was sent comes in once more, shown again, at a front door of its own; what that answers. */
async function resend(world: TestWorld, requestId: string): Promise<SubmissionAck[]> {
  const answers: SubmissionAck[] = [];
  const unused = async (): Promise<void> => undefined;
  const replica = createInbox({ handle: unused, fail: unused, handleEvent: unused });
  const delivered = world.slack.deliveries.findLast(({ kind }) => kind === 'view_submission');
  const body = SubmissionBody.parse(delivered?.payload);
  const { workspace, invocation } = readInteraction(body);
  const state = readViewState(body.view);
  const shown = { ...state, view: { ...state.view, hash: 'shown again' } };
  const click = { ...invocation, requestId };
  await acknowledgeForm(replica, world.app.workspaces.open(workspace), click, shown, async (answer) => {
    answers.push(answer);
  });
  return answers;
}
