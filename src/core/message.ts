import type { Block, ModalView as SlackModalView, KnownBlock as TypedBlock } from '@slack/types';

export type KnownBlock = TypedBlock | DataVisualizationBlock;

/**
 * A chart that Slack draws itself, two a message; newer than Slack's own types.
 * @see {@link https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block}
 */
export interface DataVisualizationBlock extends Block {
  type: 'data_visualization';
  /** At most 50 characters, as the labels of the axes. */
  title: string;
  chart: SeriesChart;
}

interface SeriesChart {
  type: 'bar';
  /** At most 6 with different names, each with a point for every category; names have at most 20 characters. */
  series: Array<{ name: string; data: Array<{ label: string; value: number }> }>;
  /** At most 20 categories of 20 characters. */
  axis_config: { categories: string[]; x_label?: string; y_label?: string };
}

/** What Deckhand says: `text` for notifications and screen readers, `blocks` for eyes; always both. */
export interface Message {
  text: string;
  blocks: KnownBlock[];
  /** The same with other blocks, for a workspace that does not take these. Never leaves the process. */
  fallback?: () => Message;
}

/** A piece of news for a thread; the key identifies it, so that it is never posted twice. */
export interface News {
  key: string;
  message: Message;
}

/** Slack's own type takes any object for a block; ours takes the known ones only. */
export type ModalView = Omit<SlackModalView, 'blocks'> & { blocks: KnownBlock[] };
