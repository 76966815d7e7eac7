import type { ReactNode } from 'react';
import type { DataVisualizationBlock, PieChart, SeriesChart } from '../api/chart.ts';
import { indexed } from '../ui/indexed.ts';
import { Plot } from './chart-plot.tsx';
import { valueAt } from './chart-scale.ts';

/** A chart with its title and legend; its numbers stand in a table for those who do not see it. */
export function ChartBlock({ block: { title, chart } }: { block: DataVisualizationBlock }): ReactNode {
  const names =
    chart.type === 'pie' ? chart.segments.map(({ label }) => label) : chart.series.map(({ name }) => name);
  const axes = chart.type === 'pie' ? undefined : chart.axis_config;
  return (
    <figure className="chart">
      <figcaption>{title}</figcaption>
      {axes?.y_label && <span className="chart-axis">{axes.y_label}</span>}
      {chart.type === 'pie' ? (
        <Pie chart={chart} label={`${title}, pie chart`} />
      ) : (
        <Plot chart={chart} label={`${title}, ${chart.type} chart`} />
      )}
      {axes?.x_label && <span className="chart-axis chart-axis-x">{axes.x_label}</span>}
      <ul className="chart-legend">
        {indexed(names).map(([key, name]) => (
          <li key={key}>
            <span className={`chart-swatch series-${key}`} />
            {name}
          </li>
        ))}
      </ul>
      <Numbers chart={chart} title={title} />
    </figure>
  );
}

const RADIUS = 80;

function Pie({ chart: { segments }, label }: { chart: PieChart; label: string }): ReactNode {
  const total = segments.reduce((sum, { value }) => sum + value, 0);
  const ends = segments.map((_, index) =>
    segments.slice(0, index + 1).reduce((sum, { value }) => sum + value / total, 0),
  );
  return (
    <svg className="chart-drawing chart-pie" viewBox="-90 -90 180 180" role="img" aria-label={label}>
      {indexed(segments).map(([key, { label: name, value }]) => (
        <path
          key={key}
          className={`series-${key}`}
          d={slice(ends[Number(key) - 1] ?? 0, ends[Number(key)] ?? 1)}
        >
          <title>{`${name}: ${Math.round((value / total) * 100)} %`}</title>
        </path>
      ))}
    </svg>
  );
}

/** From one share of the circle to another; a whole circle stops just short, as an arc to its own start is none. */
function slice(from: number, to: number): string {
  const end = Math.min(to, from + 0.9999);
  const at = (share: number): string => {
    const angle = share * 2 * Math.PI - Math.PI / 2;
    return `${(RADIUS * Math.cos(angle)).toFixed(2)} ${(RADIUS * Math.sin(angle)).toFixed(2)}`;
  };
  return `M 0 0 L ${at(from)} A ${RADIUS} ${RADIUS} 0 ${end - from > 0.5 ? 1 : 0} 1 ${at(end)} Z`;
}

function Numbers({ chart, title }: { chart: PieChart | SeriesChart; title: string }): ReactNode {
  const rows = rowsOf(chart);
  return (
    <table className="visually-hidden">
      <caption>{title}</caption>
      <tbody>
        {indexed(rows).map(([key, [head, ...cells]]) => (
          <tr key={key}>
            <th scope="row">{head}</th>
            {indexed(cells).map(([at, cell]) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function rowsOf(chart: PieChart | SeriesChart): string[][] {
  if (chart.type === 'pie') return chart.segments.map(({ label, value }) => [label, String(value)]);
  return [
    ['', ...chart.series.map(({ name }) => name)],
    ...chart.axis_config.categories.map((category) => [
      category,
      ...chart.series.map(({ data }) => String(valueAt(data, category))),
    ]),
  ];
}
