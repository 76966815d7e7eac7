import type { AnyBlock, KnownBlock } from '@slack/types';
import type { ReactNode } from 'react';
import type { DataVisualizationBlock } from '../api/chart.ts';
import { Markdown } from '../markdown/markdown.tsx';
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
  const keys = keysFor(blocks);
  return (
    <div className="blocks">
      {blocks.map((block, at) => (
        <Block key={keys[at]} block={block as DrawnBlock} blockId={block.block_id ?? `block-${at}`} />
      ))}
    </div>
  );
}

/**
 * The ids that the server gives are others after each edit, so all blocks but the fields of a form are told apart by
 * type, action and order: a menu that somebody has open stays open while its message is edited.
 */
function keysFor(blocks: readonly AnyBlock[]): string[] {
  const counts = new Map<string, number>();
  return blocks.map((block) => {
    if (block.type === 'input' && block.block_id !== undefined) return block.block_id;
    const accessory = 'accessory' in block ? block.accessory : undefined;
    const action = accessory !== undefined && 'action_id' in accessory ? accessory.action_id : '';
    const kind = `${block.type}/${action}`;
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    return `${kind}/${count}`;
  });
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
