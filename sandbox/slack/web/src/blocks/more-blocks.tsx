import type { CardBlock, ContainerBlock, PlanBlock, TaskCardBlock, VideoBlock } from '@slack/types';
import type { ReactNode } from 'react';
import { Element } from '../elements/element.tsx';
import { ImageElement } from '../elements/image.tsx';
import { SafeLink } from '../mrkdwn/inline.tsx';
import { PlainText, Text } from '../mrkdwn/text.tsx';
import { Icon } from '../ui/icon.tsx';
import type { IconName } from '../ui/icon-names.ts';
import { indexed } from '../ui/indexed.ts';
import { RichText } from './rich-text.tsx';

export function Card({ block, blockId }: { block: CardBlock; blockId: string }): ReactNode {
  return (
    <div className="card">
      {block.hero_image && <ImageElement element={block.hero_image} />}
      {block.title && (
        <strong>
          <Text text={block.title} />
        </strong>
      )}
      {block.subtitle && <Text text={block.subtitle} />}
      {block.body && <Text text={block.body} />}
      {block.actions && (
        <div className="actions">
          {indexed(block.actions).map(([key, action]) => (
            <Element key={key} element={action} blockId={blockId} />
          ))}
        </div>
      )}
    </div>
  );
}

interface ContainerProps {
  block: ContainerBlock;
  /** Its child blocks, drawn. */
  children: ReactNode;
}

export function Container({ block, children }: ContainerProps): ReactNode {
  const title = block.title && <PlainText text={block.title} />;
  if (!block.is_collapsible) {
    return (
      <div className="card">
        {title && <strong>{title}</strong>}
        {block.subtitle && <Text text={block.subtitle} />}
        {children}
      </div>
    );
  }
  return (
    <details className="card" open={block.default_collapsed !== true}>
      <summary>{title ?? 'Details'}</summary>
      {children}
    </details>
  );
}

const taskIcons: Readonly<Record<TaskCardBlock['status'], IconName>> = {
  pending: 'clock',
  in_progress: 'loader-circle',
  complete: 'circle-check',
  error: 'circle-x',
};

export function TaskCard({ block }: { block: TaskCardBlock }): ReactNode {
  return (
    <div className={`task task-${block.status}`}>
      <Icon name={taskIcons[block.status]} />
      <div>
        <strong>{block.title}</strong>
        {block.details && <RichText block={block.details} />}
        {block.output && <RichText block={block.output} />}
      </div>
    </div>
  );
}

export function Plan({ block }: { block: PlanBlock }): ReactNode {
  const tasks = (block.tasks ?? []).filter((task): task is TaskCardBlock => task.type === 'task_card');
  return (
    <div className="card">
      <strong>{block.title}</strong>
      {indexed(tasks).map(([key, task]) => (
        <TaskCard key={key} block={task} />
      ))}
    </div>
  );
}

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
