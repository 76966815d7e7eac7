import { describe, expect } from 'vitest';
import { createInbox } from '../../src/listeners/inbox.ts';
import { readInteraction, readViewState } from '../../src/listeners/payloads/payloads.ts';
import { SubmissionBody } from '../../src/listeners/payloads/schemas.ts';
import { acknowledgeForm } from '../../src/listeners/pipeline/run-submission.ts';
import type { SubmissionAck } from '../../src/listeners/pipeline/submission-view.ts';
import { openForm } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { CREDENTIALS, TEAM, type TestWorld } from '../support/test-world.ts';

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
    expect(await connections(world)).toBe(1);
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
    await world.slack.until(() => world.slack.ephemerals('T0HOUSE', 'U0ANN').some(isConnected));
  });

  test('a submitted form that two replicas take at once is carried out by one, and both give its answer', async ({
    world,
  }) => {
    await world.as('admin').submit('connect', CREDENTIALS);
    const [one, other] = await Promise.all(
      ['one', 'other'].map((click) => resend(world, click, 'shown again')),
    );
    expect(one).toEqual(other);
    // Connected already, so that it asks what the key is for.
    expect(one).toMatchObject([{ response_action: 'update' }]);
    expect(JSON.stringify(one)).toContain('"purpose"');
    const done = 'deckhand_jobs_total{queue="requests",outcome="done"} 2';
    await expect.poll(() => world.app.parts.metrics.text()).toContain(done);
  });
});

/**
 * The last form that was sent comes in once more, at a front door of its own; what that answers.
 * @param hash where it was shown anew in between
 */
async function resend(world: TestWorld, requestId: string, hash?: string): Promise<SubmissionAck[]> {
  const answers: SubmissionAck[] = [];
  const unused = async (): Promise<void> => undefined;
  const replica = createInbox({ run: unused, fail: unused, runEvent: unused });
  const { workspace, invocation, state } = lastForm(world);
  const shown = hash === undefined ? state : { ...state, view: { ...state.view, hash } };
  const click = { ...invocation, requestId };
  await acknowledgeForm(replica, world.app.workspaces.open(workspace), click, shown, async (answer) => {
    answers.push(answer);
  });
  return answers;
}

function lastForm(world: TestWorld) {
  const delivered = world.slack.deliveries.findLast(({ kind }) => kind === 'view_submission');
  const body = SubmissionBody.parse(delivered?.payload);
  return { ...readInteraction(body), state: readViewState(body.view) };
}

/** As an admin reads them in the audit log. */
async function connections({ app }: TestWorld): Promise<number> {
  const entries = await app.workspaces.open(TEAM).audit.latest(100);
  return entries.filter(({ entry }) => entry.what === 'connect').length;
}

function isConnected({ text }: { text: string }): boolean {
  return text.includes('Connected');
}
