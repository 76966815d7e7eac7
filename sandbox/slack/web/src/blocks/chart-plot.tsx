import type { ReactNode } from 'react';
import type { SeriesChart } from '../api/chart.ts';
import { indexed } from '../ui/indexed.ts';
import { HEIGHT, type Scale, scaleOf, valueAt, WIDTH } from './chart-scale.ts';

/** The drawing of a bar, area or line chart. */
export function Plot({ chart, label }: { chart: SeriesChart; label: string }): ReactNode {
  const scale = scaleOf(chart);
  return (
    <svg className="chart-drawing" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <Grid chart={chart} scale={scale} />
      {chart.type === 'bar' ? (
        <Bars chart={chart} scale={scale} />
      ) : (
        <Curves chart={chart} scale={scale} filled={chart.type === 'area'} />
      )}
    </svg>
  );
}

interface PartProps {
  chart: SeriesChart;
  scale: Scale;
}

/** Of the larger letters that a narrow page has, in the drawing's units. */
const LETTER_WIDTH = 12;

/** Categories are named as far as the longest leaves room. */
function Grid({ chart, scale }: PartProps): ReactNode {
  const { categories } = chart.axis_config;
  const longest = Math.max(0, ...categories.map((category) => category.length));
  const width = longest * LETTER_WIDTH;
  // The last name moves left rather than leave the drawing.
  const moved = Math.max(0, scale.x(categories.length - 1) + width / 2 - WIDTH);
  const every = Math.ceil((width + moved) / scale.step);
  return (
    <g className="chart-grid">
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line x1={scale.left} x2={scale.right} y1={scale.y(tick)} y2={scale.y(tick)} />
          <text x={scale.left - 6} y={scale.y(tick) + 4} textAnchor="end">
            {Number(tick.toPrecision(6))}
          </text>
        </g>
      ))}
      {indexed(categories).map(([key, category]) =>
        Number(key) % every === 0 ? (
          <text
            key={key}
            x={Math.min(scale.x(Number(key)), WIDTH - (category.length / 2) * LETTER_WIDTH)}
            y={HEIGHT - 8}
            textAnchor="middle"
          >
            {category}
          </text>
        ) : null,
      )}
    </g>
  );
}

/** The bars of a category stand side by side. */
function Bars({ chart, scale }: PartProps): ReactNode {
  const width = (scale.step * 0.72) / chart.series.length;
  return indexed(chart.series).map(([key, { name, data }]) => (
    <g key={key} className={`series-${key}`}>
      {indexed(chart.axis_config.categories).map(([at, category]) => {
        const value = valueAt(data, category);
        const from = scale.x(Number(at)) - (width * chart.series.length) / 2;
        return (
          <rect
            key={at}
            x={from + width * Number(key)}
            width={width}
            y={Math.min(scale.y(value), scale.y(0))}
            height={Math.abs(scale.y(value) - scale.y(0))}
          >
            <title>{`${name}, ${category}: ${value}`}</title>
          </rect>
        );
      })}
    </g>
  ));
}

function Curves({ chart, scale, filled }: PartProps & { filled: boolean }): ReactNode {
  const { categories } = chart.axis_config;
  return indexed(chart.series).map(([key, { data }]) => {
    const points = categories.map((category, at) => `${scale.x(at)},${scale.y(valueAt(data, category))}`);
    const ground = scale.y(0);
    const closed = [`${scale.x(0)},${ground}`, ...points, `${scale.x(categories.length - 1)},${ground}`];
    return (
      <g key={key} className={`series-${key}`}>
        {filled && <polygon className="chart-area" points={closed.join(' ')} />}
        <polyline points={points.join(' ')} />
      </g>
    );
  });
}
