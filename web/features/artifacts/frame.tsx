import { useEffect, useRef, useState } from 'react'
import type { FromFrame, Order, ToFrame } from '../../frame/messages.ts'

/** Why a frame shows nothing any more. */
export type End = 'silent' | 'left' | 'unwalled' | { readonly line: string }

/** Set by the build: the address of the page in the frame, with a mark of its content. */
declare const FRAME_ADDRESS: string

const PING_MS = 1_000
const UNANSWERED_MAX = 5
const HEIGHT_MAX = 4_000

interface FrameProps {
  readonly order: Order
  readonly title: string
  readonly onDrawn: (svg: string | null) => void
  readonly onEnd: (end: End) => void
}

/**
 * What a model has written, in a frame without an origin. It is reached by one port alone; it is
 * ended when it loads a second page or stops answering.
 */
export function Frame({ order, title, onDrawn, onEnd }: FrameProps) {
  const [height, setHeight] = useState<number | null>(null)
  const frame = useRef<HTMLIFrameElement>(null)
  const link = useRef<Link | null>(null)
  useEffect(() => () => link.current?.close(), [])
  function onSaid(said: FromFrame): void {
    if (said.is === 'drawn') onDrawn(typeof said.svg === 'string' ? said.svg : null)
    if (said.is === 'height' && said.height > 0) setHeight(Math.min(said.height, HEIGHT_MAX))
    if (said.is === 'failed') onEnd({ line: String(said.line) })
    if (said.is === 'leaving') onEnd('left')
    if (said.is === 'unwalled') onEnd('unwalled')
  }
  function onLoad(): void {
    if (link.current) {
      onEnd('left')
      return
    }
    const window = frame.current?.contentWindow
    if (window) link.current = createLink(window, order, onSaid, () => onEnd('silent'))
  }
  const style = height === null ? undefined : { height }
  return (
    <iframe
      ref={frame}
      className="artifact-frame"
      data-kind={order.kind}
      // A drawing has nothing that a key could reach.
      tabIndex={order.kind === 'html' ? undefined : -1}
      style={style}
      sandbox="allow-scripts"
      src={FRAME_ADDRESS}
      title={title}
      onLoad={onLoad}
    />
  )
}

interface Link {
  readonly close: () => void
}

/** Sends the order, then asks now and then whether the frame still answers. */
function createLink(
  window: Window,
  order: Order,
  onSaid: (said: FromFrame) => void,
  onSilent: () => void,
): Link {
  const { port1: port, port2 } = new MessageChannel()
  const send = (message: ToFrame) => port.postMessage(message)
  let unanswered = 0
  port.onmessage = ({ data }: MessageEvent<FromFrame>) => {
    unanswered = 0
    if (typeof data === 'object' && data !== null) onSaid(data)
  }
  window.postMessage('port', '*', [port2])
  send({ is: 'order', ...order })
  // Pings are counted, not seconds: a machine that slept has no silent frame.
  const timer = setInterval(() => {
    if (unanswered >= UNANSWERED_MAX) {
      onSilent()
      return
    }
    unanswered += 1
    send({ is: 'ping' })
  }, PING_MS)
  return {
    close() {
      clearInterval(timer)
      port.close()
    },
  }
}
