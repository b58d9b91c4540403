import { useI18n } from '../../i18n/index.tsx'
import type { Point } from './series.ts'

const WIDTH = 600
const HEIGHT = 150

/** The next round number: 1, 2 or 5 times a power of ten. */
function ceiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

/** Median and 95th percentile over time. */
export function LatencyChart({ points }: { readonly points: readonly Point[] }) {
  const { t, locale } = useI18n()
  const first = points[0]
  const last = points.at(-1)
  if (!first || !last) return null
  const top = ceiling(Math.max(...points.map(({ p95 }) => p95)))
  const span = Math.max(1, last.at - first.at)
  const line = (of: (point: Point) => number) => {
    const places = points.map((point) => {
      const x = points.length === 1 ? WIDTH / 2 : ((point.at - first.at) / span) * WIDTH
      return `${x.toFixed(1)},${(HEIGHT - (of(point) / top) * HEIGHT).toFixed(1)}`
    })
    // A single point draws nothing; a line of zero length with round ends draws a dot.
    return places.length === 1 ? `${places[0]} ${places[0]}` : places.join(' ')
  }
  const width = points.length === 1 ? 8 : 2
  const time = (at: number) =>
    new Date(at).toLocaleString(locale, {
      month: 'numeric',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    })
  const stroke = {
    fill: 'none',
    vectorEffect: 'non-scaling-stroke',
    strokeLinecap: 'round',
  } as const
  return (
    <figure>
      <Legend top={`${top.toLocaleString(locale)} ${t('logs.ms')}`} />
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-40 w-full overflow-visible"
        role="img"
        aria-label={t('logs.chart.label')}
      >
        {[0, 0.5, 1].map((part) => (
          <path
            key={part}
            d={`M0 ${HEIGHT * part}H${WIDTH}`}
            className="stroke-line"
            vectorEffect="non-scaling-stroke"
          />
        ))}
        <polyline
          points={line(({ p95 }) => p95)}
          className="stroke-warn"
          strokeWidth={width}
          strokeDasharray="1 6"
          {...stroke}
        />
        <polyline
          points={line(({ p50 }) => p50)}
          className="stroke-accent"
          strokeWidth={width}
          {...stroke}
        />
      </svg>
      <div className="mt-2 flex justify-between text-mini text-ink-3">
        <span>{time(first.at)}</span>
        <span>{time(last.at)}</span>
      </div>
    </figure>
  )
}

function Legend({ top }: { readonly top: string }) {
  return (
    <figcaption className="mb-3 flex gap-5 text-small text-ink-2">
      <span className="flex items-center gap-2">
        <span className="h-0.5 w-4 rounded bg-accent" aria-hidden /> p50
      </span>
      <span className="flex items-center gap-2">
        <span className="h-0.5 w-4 rounded bg-warn" aria-hidden /> p95
      </span>
      <span className="ml-auto text-ink-3">{top}</span>
    </figcaption>
  )
}
