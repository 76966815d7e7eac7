import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, dateTime, mrkdwn, toSentence } from '../../core/mrkdwn.ts';
import type { Quiet } from '../../records/quiets.ts';
import { button, buttons, safeUrl, say, section } from '../blocks/make-blocks.ts';
import { claimElsewhere, isAnyFree } from './episode-buttons.ts';
import { describeOutage, describeQuiet, type ShownOutage } from './outage.ts';

type ShownQuiet = Pick<Quiet, 'id' | 'project' | 'until' | 'requestedBy'>;

/** "*Storefront*", or "Everything"; mrkdwn. */
export function describeScope({ project }: Pick<Quiet, 'project'>): string {
  return project === undefined ? 'Everything' : bold(project.name, 80);
}

/** "Storefront is quiet here until 08:00, by @ana"; mrkdwn. */
export function describeQuietUntil(quiet: ShownQuiet): string {
  return `${describeScope(quiet)} is quiet here until ${dateTime(quiet.until)}, by <@${quiet.requestedBy}>`;
}

/** The answer to a person who began a quiet, or asked what is quiet. */
export function quietMessage(channel: string, quiets: readonly ShownQuiet[], word: string): Message {
  if (quiets.length === 0)
    return say(
      `Nothing is quiet here. ${code(`${word} quiet for 1h`)} holds back what watches and guards post here.`,
    );
  const lines = quiets.map((quiet) => `:no_bell: ${describeQuietUntil(quiet)}.`);
  const isOne = quiets.length === 1;
  const blocks: KnownBlock[] = quiets.flatMap(({ id, project }) => {
    const label = isOne ? 'End now' : `End now: ${project?.name ?? 'everything'}`;
    const value = { id, channel, isAnswer: true };
    return buttons(button(label.slice(0, 75), isOne ? 'quiet:end' : `quiet:end#${id}`, { value }));
  });
  const next =
    'Until then its watches and guards post nothing new here and mention nobody. Messages that exist are still edited.';
  return say(`${lines.join('\n')}\n${next}`, ...blocks);
}

/** Tells a channel that a person began a quiet. */
export function quietNotice(quiet: ShownQuiet): Message {
  const what = quiet.project === undefined ? 'everything here' : mrkdwn(quiet.project.name, 80);
  return say(`:no_bell: <@${quiet.requestedBy}> made ${what} quiet until ${dateTime(quiet.until)}.`);
}

/** The message at the end of a quiet if nothing needs a message of its own. @param outages those that have one */
export function afterQuietMessage(
  figures: { failed: number; recovered: number },
  outages: ReadonlyArray<ShownOutage & { link?: string | undefined }>,
): Message {
  const rows = outages.map((outage) => {
    const { link, owner } = outage;
    const url = safeUrl(link);
    const onIt = owner === undefined ? '' : ` <@${owner}> is on all of it.`;
    const words = `:rotating_light: ${toSentence(describeOutage(outage))}${onIt}${url === undefined ? '' : ` <${url}|Its message>`}`;
    return {
      words,
      block: section(words, owner === undefined && isAnyFree(outage) && claimElsewhere(outage)),
    };
  });
  const start = `:bell: ${describeQuiet(figures)}`;
  return {
    text: [start, ...rows.map(({ words }) => words)].join('\n'),
    blocks: [section(start), ...rows.map(({ block }) => block)],
  };
}
