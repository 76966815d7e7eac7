import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Command, defineCommand } from '../../src/commands/command.ts';
import { commandsFor, START } from '../../src/commands/registry.ts';
import { incomingInteraction, SubmissionBody, viewStateOf } from '../../src/listeners/payloads/payloads.ts';
import { createSubmissions, type SubmissionAck } from '../../src/listeners/pipeline/run-submission.ts';
import { createRegistry } from '../../src/listeners/registry.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, openTestWorld, type TestWorld } from '../support/test-world.ts';

const RIGHT = { account: ACCOUNT, email: EMAIL, api_key: API_KEY };

describe('a submitted form', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    await house.as('admin').command(CHANNEL, '/deckhand connect');
    await house.slack.until(() => house.as('admin').openView()?.content.callback_id === 'connect');
  });
  afterEach(() => house.stop());

  it('is carried out once, however often it is clicked while it runs', async () => {
    house.service.faults.add({ path: '/acme/profile', delayMs: 200, times: 1 });
    const ann = house.as('admin');
    const first = ann.submit('connect', RIGHT);
    const second = ann.submit('connect');
    expect((await first).body).toBe((await second).body);
    expect(profileCalls(house)).toBe(1);
  });

  it('may be sent again after it came back with faults, though Slack keeps its hash', async () => {
    const ann = house.as('admin');
    const hash = ann.openView()?.hash;
    const refused = await ann.submit('connect', { ...RIGHT, api_key: 'WrongKey'.repeat(5) });
    expect(refused.errors).toHaveProperty('api_key');
    expect(ann.openView()?.hash).toBe(hash);
    expect((await ann.submit('connect', RIGHT)).body).toContain('clear');
    await house.slack.until(() => house.slack.ephemerals('T0HOUSE', 'U0ANN').some(isConnected));
  });

  it('is not carried out again by another replica, which says so', async () => {
    await house.as('admin').submit('connect', RIGHT);
    const answer = await resend(house, commandsFor(house.config));
    expect(answer).toContain('sent already');
    expect(profileCalls(house)).toBe(1);
  });

  it('shows what the service says as text, never as markup', async () => {
    const refused = await house.as('admin').submit('connect', { ...RIGHT, api_key: 'WrongKey'.repeat(5) });
    expect(refused.outcome).toBe('errors');
    const fields = {
      base: ['<!channel> said no'],
      email: ['<https://evil.example|fine>'],
      zone: ['<!here>'],
    };
    const answer = await resend(house, [refusing(new ServiceError('invalid', 'x', { status: 422, fields }))]);
    expect(answer).toContain('&lt;!channel&gt; said no');
    expect(answer).toContain('&lt;https://evil.example|fine&gt;');
    expect(answer).toContain('zone: &lt;!here&gt;');
    expect(answer).not.toMatch(/<[!h]/);
  });
});

/** The last form that was sent comes in once more, at a front door of its own; what that answers. */
async function resend(house: TestWorld, commands: readonly Command[]): Promise<string> {
  const delivered = house.slack.deliveries.findLast(({ kind }) => kind === 'view_submission');
  const body = SubmissionBody.parse(delivered?.payload);
  const answers: SubmissionAck[] = [];
  const replica = createSubmissions(createRegistry(commands, START));
  const { workspace, caller } = incomingInteraction(body);
  await replica(house.app.workspaces.open(workspace), caller, viewStateOf(body.view), async (answer) => {
    answers.push(answer);
  });
  return JSON.stringify(answers);
}

function refusing(error: Error): Command {
  return defineCommand({
    name: 'connect',
    summary: '',
    usage: '',
    role: 'member',
    needsAccount: false,
    positionals: [],
    args: z.object({}),
    run: async () => ({ kind: 'nothing' }),
    submissions: [{ callbackId: 'connect', role: 'member', submit: () => Promise.reject(error) }],
  });
}

function profileCalls({ service }: TestWorld): number {
  return service.requests.all.filter(({ path }) => path === '/profile').length;
}

function isConnected({ text }: { text: string }): boolean {
  return text.includes('Connected');
}
