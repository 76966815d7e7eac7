import type { Channel } from '../state/people.ts';
import { findSeated } from '../state/sharing.ts';
import type { Workspace } from '../state/types.ts';
import { findByName } from '../state/workspaces.ts';
import type { World } from '../world.ts';

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
const ADDRESS = /(https?:\/\/[^\s<>|]*[^\s<>|.,:;!?'")\]}])/;

interface Typed {
  workspace: Workspace;
  channel: Channel;
  text: string;
}

/**
 * Typed text as Slack passes it on: the three reserved characters escaped, addresses in angle brackets, `@name` and
 * `#name` as ids.
 */
export function encodeTyped(
  world: World,
  typed: Typed,
  mention: (id: string, name: string) => string = (id) => `<@${id}>`,
): string {
  return typed.text
    .split(ADDRESS)
    .map((part, at) => {
      const escaped = part.replace(/[&<>]/g, (character) => ESCAPES[character] ?? character);
      return at % 2 === 1 ? `<${escaped}>` : encodeNames(world, typed, escaped, mention);
    })
    .join('');
}

function encodeNames(
  world: World,
  { workspace, channel }: Typed,
  text: string,
  mention: (id: string, name: string) => string,
): string {
  return text
    .replace(/(?<![\w@])@([\w-]+(?:\.[\w-]+)*)(?: ([\w-]+))?/g, (whole, name: string, next?: string) => {
      const full = `${name} ${next}`.toLowerCase();
      if ([...workspace.people.values()].some((one) => one.real_name.toLowerCase() === full)) return whole;
      const id = userNamed(world, workspace, channel, name);
      return id ? whole.replace(`@${name}`, () => mention(id, name)) : whole;
    })
    .replace(/(?<![\w#&])#([\w-]+)/g, (whole, name: string) => {
      const found = findByName(workspace, name.toLowerCase());
      return found ? `<#${found.id}|${found.name}>` : whole;
    });
}

/** Somebody of the channel, or else of the workspace, in capitals too. A full name that was typed, not picked, stays text. */
function userNamed(world: World, workspace: Workspace, channel: Channel, name: string): string | undefined {
  const wanted = name.toLowerCase();
  const near = [...channel.members].find((id) => findSeated(world, workspace, id)?.person.name === wanted);
  return near ?? [...workspace.people.values()].find((person) => person.name === wanted)?.id;
}

export function unescapeText(text: string): string {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
}
