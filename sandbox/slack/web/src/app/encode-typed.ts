import type { Directory } from '../state/directory.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** What Slack's own client makes of typed text: the three reserved characters escaped, names turned into mentions. */
export function encodeTyped(text: string, { team }: Pick<Directory, 'team'>): string {
  const escaped = text.replace(/[&<>]/g, (character) => escapes[character] ?? character);
  return escaped
    .replace(/(?<![\w@])@([\w.-]+)/g, (whole, name: string) => {
      const user = team.users.find((one) => one.name === name);
      return user ? `<@${user.id}>` : whole;
    })
    .replace(/(?<![\w#&])#([\w-]+)/g, (whole, name: string) => {
      const channel = team.channels.find((one) => one.kind !== 'im' && one.name === name);
      return channel ? `<#${channel.id}|${channel.name}>` : whole;
    });
}
