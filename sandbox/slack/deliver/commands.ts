import { storeMessage } from '../state/messages.ts';
import type { Channel, Person } from '../state/people.ts';
import { issueTrigger } from '../state/triggers.ts';
import type { Workspace } from '../state/types.ts';
import type { World } from '../world.ts';
import { deliver } from './delivery.ts';
import { issueResponseUrl, respond } from './response-url.ts';
import { type ActResult, isTheirs, notDelivered, resultOf } from './result.ts';
import { hasApp, isOrgInstall, payloadChannelName } from './shared.ts';
import { encodeTyped } from './typed-text.ts';

export interface TypedCommand {
  workspace: Workspace;
  person: Person;
  channel: Channel;
  /** With its slash. */
  command: string;
  text: string;
}

/** Delivers a slash command and shows the person what comes of it, failures included. */
export async function sendCommand(world: World, typed: TypedCommand): Promise<ActResult> {
  const { workspace, person, channel, command } = typed;
  const registered = world.app.commands.find((one) => one.command === command);
  if (!registered || !hasApp(world, typed)) {
    tell(world, typed, `${command} is not a valid command.`);
    return notDelivered('invalid_command');
  }
  const text = registered.should_escape
    ? encodeTyped(world, typed, (id, name) => `<@${id}|${name}>`)
    : typed.text;
  const payload = commandPayload(world, { ...typed, text });
  const delivery = await deliver(world, {
    kind: 'command',
    name: command,
    team: workspace.id,
    user: person.id,
    payload,
    as: 'form',
  });
  if (delivery.outcome !== 'ok') {
    tell(world, typed, `${command} failed with the error "${delivery.outcome}"`);
    return resultOf(delivery);
  }
  return showAnswer(world, typed, delivery.body, channel, resultOf(delivery));
}

function commandPayload(world: World, { workspace, person, channel, command, text }: TypedCommand) {
  const { enterprise } = workspace;
  const owner = { teamId: workspace.id, userId: person.id };
  return {
    token: world.app.verificationToken,
    team_id: workspace.id,
    team_domain: workspace.domain,
    ...(enterprise ? { enterprise_id: enterprise.id, enterprise_name: enterprise.name } : {}),
    channel_id: channel.id,
    channel_name: payloadChannelName(channel),
    user_id: person.id,
    user_name: person.name,
    command,
    text,
    api_app_id: world.app.appId,
    is_enterprise_install: String(isOrgInstall(workspace)),
    response_url: issueResponseUrl(world, { ...owner, channel: channel.id }, 'commands'),
    trigger_id: issueTrigger(world, owner),
  };
}

/** An answer in the ack's own body: plain text, or JSON like that of a response_url. */
function showAnswer(
  world: World,
  { workspace, person, command }: TypedCommand,
  body: string,
  channel: Channel,
  result: ActResult,
): ActResult {
  if (body.trim() === '') return result;
  const target = {
    path: '',
    teamId: workspace.id,
    userId: person.id,
    channel: channel.id,
    issuedAt: world.time.now(),
    uses: 0,
  };
  try {
    respond(world, target, body.trimStart().startsWith('{') ? JSON.parse(body) : { text: body });
    return result;
  } catch (error) {
    if (!isTheirs(error)) throw error;
    tell(world, { workspace, person, channel }, `${command} failed with the error "invalid_response"`);
    return { ...result, outcome: 'invalid_response', shown: error.message };
  }
}

/** What Slack itself says to one person. */
function tell(world: World, to: Pick<TypedCommand, 'workspace' | 'person' | 'channel'>, text: string): void {
  storeMessage(world, to.workspace, to.channel, { user: 'USLACKBOT' }, { text }, to.person.id);
}
