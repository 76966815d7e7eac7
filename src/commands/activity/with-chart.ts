import type { KnownBlock, Message } from '../../core/message.ts';
import { chartBlock, chartImage, chartWords } from '../../views/activity/chart-blocks.ts';
import { type DeploymentsData, totalOf } from '../../views/activity/deployments-chart.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Slack may need a moment before it shows a file that was just uploaded. */
const FILE_PAUSE_MS = 1_500;

/**
 * A message with a chart: drawn by Slack, else as a picture, else in words, as far as Slack takes it.
 * @param message makes the message around the chart
 */
export async function withChart(
  { chartFiles, clock }: Pick<Workspace, 'chartFiles' | 'clock'>,
  data: DeploymentsData,
  message: (chart: readonly KnownBlock[]) => Message,
): Promise<Message> {
  const inWords = async (): Promise<Message> => message([chartWords(data)]);
  const asPicture = async (): Promise<Message> => {
    const file = await chartFiles.upload(data);
    if (file === undefined) return inWords();
    const shown = message([chartImage(data, file)]);
    const again = async (): Promise<Message> => {
      await clock.sleep(FILE_PAUSE_MS);
      return { ...shown, fallback: inWords };
    };
    return { ...shown, fallback: again };
  };
  if (totalOf(data) === 0) return message([]);
  const chart = chartBlock(data);
  return chart === undefined ? asPicture() : { ...message([chart]), fallback: asPicture };
}
