import type { ReactNode } from 'react';
import type { Attachment } from '../api/types.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { SafeLink } from '../mrkdwn/inline.tsx';
import { Mrkdwn } from '../mrkdwn/text.tsx';
import { OpenPane } from '../pane/open-pane.tsx';
import { indexed } from '../ui/indexed.ts';

/** Unfurled links and old-style attachments: set off by a bar at their side. */
export function Attachments({
  attachments,
  ts,
}: {
  attachments: readonly Attachment[];
  ts: string;
}): ReactNode {
  return indexed(attachments).map(([key, attachment]) => (
    <AttachmentView key={key} attachment={attachment} ts={ts} />
  ));
}

function AttachmentView({ attachment, ts }: { attachment: Attachment; ts: string }): ReactNode {
  const { blocks, title, title_link, text, fallback, fields, footer, pretext, author_name } = attachment;
  const empty = !blocks && !title && !text && !fields;
  return (
    <div className={`attachment bar-${barOf(attachment.color)}`}>
      {pretext && <Mrkdwn text={pretext} />}
      {author_name && <div className="attachment-author">{author_name}</div>}
      {title && <strong>{title_link ? <SafeLink url={title_link}>{title}</SafeLink> : title}</strong>}
      {text && <Mrkdwn text={text} />}
      {blocks && <Blocks blocks={blocks} />}
      {fields && (
        <div className="fields">
          {indexed(fields).map(([key, field]) => (
            <div key={key} className="field">
              <strong>{field.title}</strong>
              <Mrkdwn text={field.value} />
            </div>
          ))}
        </div>
      )}
      {empty && fallback && <Mrkdwn text={fallback} />}
      {attachment.work_object_entity && <OpenPane entity={attachment.work_object_entity} ts={ts} />}
      {footer && <div className="attachment-footer">{footer}</div>}
    </div>
  );
}

/** A colour from elsewhere is mapped to one of ours: the page's policy allows no inline styles. */
function barOf(color: string | undefined): string {
  if (color === undefined) return 'plain';
  if (['good', 'warning', 'danger'].includes(color)) return color;
  const [red = 0, green = 0, blue = 0] = (/[0-9a-f]{6}$/i.exec(color)?.[0].match(/../g) ?? []).map((part) => {
    return Number.parseInt(part, 16);
  });
  if (red > green && red > blue) return green > red * 0.6 ? 'warning' : 'danger';
  return green >= blue ? 'good' : 'plain';
}
