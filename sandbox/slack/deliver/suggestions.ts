import { z } from 'zod';
import { LIMITS } from '../block-kit/limits.ts';
import { items, optionGroup, plainOption } from '../block-kit/texts.ts';
import type { Json } from '../state/types.ts';
import type { World } from '../world.ts';
import {
  type ElementName,
  findContainer,
  findElement,
  installedFor,
  type Place,
  placePayload,
  suggestionKey,
} from './containers.ts';
import { deliver } from './delivery.ts';
import { type ActResult, notDelivered, resultOf } from './result.ts';
import { envelope, type Someone } from './shared.ts';

export interface Suggestions extends ActResult {
  options: Json[];
  option_groups?: Json[];
}

const Answer = z.union([
  z.strictObject({ options: items(plainOption, LIMITS.options) }),
  z.strictObject({ option_groups: items(optionGroup, LIMITS.options) }),
]);

/** Types into a select menu whose options the app serves. */
export async function suggest(
  world: World,
  actor: Someone,
  place: Place,
  name: ElementName & { query: string },
): Promise<Suggestions> {
  const { workspace, person } = actor;
  const container = findContainer(workspace, person, place);
  const installed = installedFor(world, workspace, container);
  const { query, ...elementName } = name;
  const { block, element } = findElement(container, elementName);
  const least = typeof element.min_query_length === 'number' ? element.min_query_length : 3;
  if (query.length < least) return { ...notDelivered('not_sent'), options: [] };
  const delivery = await deliver(world, {
    kind: 'block_suggestion',
    name: String(element.action_id),
    team: installed.id,
    user: person.id,
    payload: {
      type: 'block_suggestion',
      ...envelope(world, installed, actor, container.kind === 'view' ? 'person' : 'installation'),
      ...placePayload(world, workspace, container),
      action_id: element.action_id,
      block_id: block.block_id,
      value: query,
    },
    as: 'payload',
  });
  const result = resultOf(delivery);
  if (result.outcome !== 'ok') return { ...result, options: [] };
  const answer = readSuggestions(result.body);
  if (!answer) return { ...result, outcome: 'invalid_response', options: [] };
  const options =
    'options' in answer ? answer.options : answer.option_groups.flatMap((group) => group.options);
  workspace.suggested.set(suggestionKey(container, element), options);
  return { ...result, options, ...('option_groups' in answer ? answer : {}) };
}

function readSuggestions(body: string): z.infer<typeof Answer> | undefined {
  try {
    return Answer.safeParse(JSON.parse(body)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
