/** Slack's own charts, which the published types do not have yet. */
export interface DataVisualizationBlock {
  type: 'data_visualization';
  block_id?: string;
  title: string;
  chart: PieChart | SeriesChart;
}

export interface PieChart {
  type: 'pie';
  segments: { label: string; value: number }[];
}

export interface SeriesChart {
  type: 'bar' | 'area' | 'line';
  series: { name: string; data: { label: string; value: number }[] }[];
  axis_config: { categories: string[]; x_label?: string; y_label?: string };
}
