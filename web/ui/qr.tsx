import { useMemo } from 'react'
import { encode } from 'uqr'

/** A QR code; its content is shown beside it as text. */
export function Qr({ text }: { readonly text: string }) {
  const { data, size } = useMemo(() => encode(text, { border: 2 }), [text])
  const path = data
    .flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : '')))
    .join('')
  return (
    <svg viewBox={`0 0 ${size} ${size}`} className="size-44 rounded-lg bg-white" aria-hidden>
      <path d={path} fill="#111" shapeRendering="crispEdges" />
    </svg>
  )
}
