import { type Clock, DAY_MS } from '../core/clock.ts';
import type { KnownBlock, Message, Refusal } from '../core/message.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Logger } from '../observability/log.ts';
import { isFileRefused, isSlackFailure } from '../slack/failure.ts';
import { withRetries } from '../slack/rate-limit.ts';
import type { WorkspaceSlack } from '../slack/slack.ts';
import {
  altText,
  type Charts,
  chartBlock,
  chartImage,
  chartName,
  chartWords,
  type DeploymentsData,
  isWorthDrawing,
} from '../views/activity/chart.ts';
import { chartSvg } from '../views/activity/chart-svg.ts';
import { LIMITS } from '../views/blocks/limits.ts';
import { CHART_BLOCKS, type NewBlocks, type Surface } from './new-blocks.ts';
import type { DrawPng } from './png.ts';

export interface ChartOptions {
  surface?: Surface;
  /** How long an upload waits for a busy Slack, in milliseconds. */
  busyMs?: number;
  signal?: AbortSignal | undefined;
  /** Called where Slack takes no picture, and words stand for it. */
  onRefused?: (refusal: Refusal) => void;
  /** Shows the words while Slack does not show a new picture yet, where nothing else is to be seen. */
  meanwhile?: (inWords: Message) => Promise<unknown>;
}

interface Parts {
  slack: WorkspaceSlack;
  newBlocks: NewBlocks;
  drawPng: DrawPng;
  clock: Clock;
  log: Logger;
}

type Chart = readonly [account: string, data: DeploymentsData];

/** More would make the message too long. */
const MAX_PICTURES = 4;
/** For the alternative texts of all pictures together. */
const ALT_TEXT_ROOM = 2000;
/** Lines for all charts in words together. */
const WORDS_ROOM = 30;
const SOMEONE_WAITS_MS = 3_000;
/** Slack may need a moment before it shows a file that was just uploaded. */
const PAUSES_MS = [1_500, 3_000];

/** Charts in the best way that the workspace takes: drawn by Slack, else as pictures, else in words. */
export function createCharts({ slack, newBlocks, drawPng, clock, log }: Parts) {
  /** The same chart is uploaded once. */
  const files = new TtlCache<string>(clock, DAY_MS);

  async function upload(data: DeploymentsData): Promise<string> {
    const bytes = await drawPng(chartSvg(data));
    return slack.upload({
      filename: 'deployments.png',
      title: chartName(data),
      bytes,
      altText: altText(data),
    });
  }

  /** Undefined where there is none: because Slack refused it, or because it cannot be drawn. */
  async function fileOf(data: DeploymentsData, options: ChartOptions): Promise<string | undefined> {
    const { busyMs = SOMEONE_WAITS_MS, signal, onRefused } = options;
    const once = () => files.get([JSON.stringify(data)], () => upload(data));
    try {
      return await withRetries(clock, { busyMs, retriesUnknown: 1 }, once, { signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      if (isSlackFailure(error)) {
        const { method, kind, reason } = error;
        log.warn({ event: 'picture_refused', method, kind, reason }, 'Slack refused a picture');
        onRefused?.(error);
      } else log.error({ event: 'picture_failed', err: error }, 'A picture could not be drawn');
      return undefined;
    }
  }

  return {
    /**
     * A message with charts, and with what stands for them where Slack does not take it.
     * @param build makes the message around the charts that there are
     */
    async message(
      asked: ReadonlyMap<string, DeploymentsData>,
      build: (charts: Charts) => Message,
      options: ChartOptions = {},
    ): Promise<Message> {
      const { surface = 'message', signal, onRefused, meanwhile } = options;
      const charts = [...asked].filter(([, data]) => isWorthDrawing(data)).slice(0, MAX_PICTURES);
      if (charts.length === 0) return build(new Map());
      const maxLines = Math.floor(WORDS_ROOM / charts.length);
      const inWords = (): Message => build(blocksOf(charts, (data) => chartWords(data, maxLines)));

      const asPictures = async (): Promise<Message> => {
        const blocks = new Map<string, KnownBlock>();
        for (const [account, data] of charts) {
          const file = await fileOf(data, options);
          const room = Math.floor(ALT_TEXT_ROOM / charts.length);
          blocks.set(account, file === undefined ? chartWords(data, maxLines) : chartImage(data, file, room));
        }
        return retry(build(blocks), PAUSES_MS);
      };

      const retry = (message: Message, [pause, ...later]: readonly number[]): Message => ({
        ...message,
        async fallback(refusal) {
          if (refusal !== undefined && isFileRefused(refusal)) onRefused?.(refusal);
          else if (pause !== undefined) {
            if (later.length === PAUSES_MS.length - 1) await meanwhile?.(inWords());
            await clock.sleep(pause, signal);
            return retry(message, later);
          }
          return inWords();
        },
      });

      const drawnBySlack = blocksOf(charts, chartBlock);
      const isTaken = drawnBySlack.size === charts.length && charts.length <= LIMITS.chartsInMessage;
      if (!isTaken || (await newBlocks.areRefused(CHART_BLOCKS[surface]))) return asPictures();
      return { ...build(drawnBySlack), fallback: asPictures };
    },
  };
}

function blocksOf(charts: readonly Chart[], draw: (data: DeploymentsData) => KnownBlock | undefined): Charts {
  const blocks = new Map<string, KnownBlock>();
  for (const [account, data] of charts) {
    const block = draw(data);
    if (block !== undefined) blocks.set(account, block);
  }
  return blocks;
}
