import type { PlanBlock, TaskCardBlock } from '@slack/types';
import type { ReactNode } from 'react';
import { Icon } from '../ui/icon.tsx';
import type { IconName } from '../ui/icon-names.ts';
import { RichText } from './rich-text.tsx';

const STATES: Readonly<Record<string, { icon: IconName; label: string }>> = {
  pending: { icon: 'ellipsis', label: 'Waiting' },
  in_progress: { icon: 'loader-circle', label: 'In progress' },
  complete: { icon: 'circle-check', label: 'Done' },
  error: { icon: 'circle-x', label: 'Failed' },
};

/** A plan with its tasks, each with its state and what came out of it. */
export function Plan({ block: { title, tasks = [] } }: { block: PlanBlock }): ReactNode {
  return (
    <div className="plan">
      <p className="plan-title">{title}</p>
      <ul className="plan-tasks">
        {(tasks as TaskCardBlock[]).map((task) => (
          <li key={task.task_id}>
            <TaskCard block={task} />
          </li>
        ))}
      </ul>
    </div>
  );
}

export function TaskCard({
  block: { title, status = 'pending', output },
}: {
  block: TaskCardBlock;
}): ReactNode {
  const { icon, label } = STATES[status] ?? { icon: 'info', label: status };
  return (
    <div className={`task task-${status}`}>
      <span className="task-state" role="img" aria-label={label}>
        <Icon name={icon} />
      </span>
      <div>
        <span className="task-title">{title}</span>
        {output !== undefined && <RichText block={output} />}
      </div>
    </div>
  );
}
