import type { AnyBlock, KnownBlock } from '@slack/types';
import type { ReactNode } from 'react';
import type { DataVisualizationBlock } from '../api/chart.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { indexed } from '../ui/indexed.ts';
import { ChartBlock } from './chart-block.tsx';
import { ImageBlock } from './image-block.tsx';
import { InputBlock } from './input-block.tsx';
import { Plan, TaskCard } from './plan-block.tsx';
import { RichText } from './rich-text.tsx';
import { Section } from './section.tsx';
import { Actions, Alert, Context, Header, Video } from './simple-blocks.tsx';
import { DataTable, TableBlock } from './table-block.tsx';

/** Draws a list of blocks. An id the app left out is its place, as long as the server gave none. */
export function Blocks({ blocks }: { blocks: readonly AnyBlock[] }): ReactNode {
  return (
    <div className="blocks">
      {indexed(blocks).map(([key, block]) => (
        <Block
          key={block.block_id ?? key}
          block={block as DrawnBlock}
          blockId={block.block_id ?? `block-${key}`}
        />
      ))}
    </div>
  );
}

type DrawnBlock = KnownBlock | DataVisualizationBlock;

interface BlockProps {
  block: DrawnBlock;
  blockId: string;
}

function Block({ block, blockId }: BlockProps): ReactNode {
  switch (block.type) {
    case 'section':
      return <Section block={block} blockId={blockId} />;
    case 'header':
      return <Header block={block} />;
    case 'divider':
      return <hr className="divider" />;
    case 'context':
      return <Context block={block} />;
    case 'actions':
      return <Actions block={block} blockId={blockId} />;
    case 'image':
      return <ImageBlock block={block} />;
    case 'input':
      return <InputBlock block={block} blockId={blockId} />;
    case 'rich_text':
      return <RichText block={block} />;
    case 'table':
      return <TableBlock block={block} />;
    case 'data_table':
      return <DataTable block={block} />;
    case 'data_visualization':
      return <ChartBlock block={block} />;
    case 'plan':
      return <Plan block={block} />;
    case 'task_card':
      return <TaskCard block={block} />;
    case 'markdown':
      return <Markdown text={block.text} />;
    case 'alert':
      return <Alert block={block} />;
    case 'video':
      return <Video block={block} />;
    default:
      return <UnknownBlock block={block} />;
  }
}

function UnknownBlock({ block }: { block: { type: string } }): ReactNode {
  return <p className="unknown">This page does not draw blocks of type “{block.type}”.</p>;
}
