import type { FileBlock as FileData } from '@slack/types';
import type { ReactNode } from 'react';
import { Icon } from '../ui/icon.tsx';

/** A remote file: the workspace knows its name only. */
export function FileBlock({ block }: { block: FileData }): ReactNode {
  return (
    <div className="file-card">
      <Icon name="file" className="file-icon" />
      <span className="file-name">{block.external_id}</span>
    </div>
  );
}
