import type { ActionsBlock, AlertBlock, ContextBlock, HeaderBlock, VideoBlock } from '@slack/types';
import type { ReactNode } from 'react';
import { Element } from '../elements/element.tsx';
import { ImageElement } from '../elements/image.tsx';
import { SafeLink } from '../mrkdwn/inline.tsx';
import { PlainText, Text } from '../mrkdwn/text.tsx';
import { Icon } from '../ui/icon.tsx';
import type { IconName } from '../ui/icon-names.ts';
import { indexed } from '../ui/indexed.ts';

export function Header({ block }: { block: HeaderBlock }): ReactNode {
  return (
    <h3 className="header">
      <PlainText text={block.text} />
    </h3>
  );
}

export function Context({ block }: { block: ContextBlock }): ReactNode {
  return (
    <div className="context">
      {indexed(block.elements).map(([key, element]) => {
        if (element.type === 'image') return <ImageElement key={key} element={element} />;
        return (
          <div key={key} className="context-text">
            <Text text={element} />
          </div>
        );
      })}
    </div>
  );
}

export function Actions({ block, blockId }: { block: ActionsBlock; blockId: string }): ReactNode {
  return (
    <div className="actions">
      {indexed(block.elements).map(([place, element]) => (
        <Element key={element.action_id ?? place} element={element} blockId={blockId} />
      ))}
    </div>
  );
}

const alertIcons: Readonly<Record<string, IconName>> = {
  error: 'circle-x',
  warning: 'triangle-alert',
  success: 'circle-check',
};

export function Alert({ block }: { block: AlertBlock }): ReactNode {
  const level = block.level ?? 'default';
  return (
    <div className={`alert alert-${level}`} role={level === 'error' ? 'alert' : 'note'}>
      <Icon name={alertIcons[level] ?? 'info'} />
      <div>
        <Text text={block.text} />
      </div>
    </div>
  );
}

/** Named and linked: the page plays nothing from elsewhere. */
export function Video({ block }: { block: VideoBlock }): ReactNode {
  return (
    <div className="card">
      <SafeLink url={block.title_url ?? block.video_url}>
        <PlainText text={block.title} />
      </SafeLink>
      {block.description && <PlainText text={block.description} />}
    </div>
  );
}
