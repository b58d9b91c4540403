import type { Token } from 'marked'
import { memo, useMemo, useRef } from 'react'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { ErrorBoundary } from '../../shell/boundary.tsx'
import { type Blocks, grow, NO_BLOCKS } from './blocks.ts'
import { Show } from './tokens.tsx'

const Block = memo(({ token }: { readonly token: Token }) => <Show token={token} />)

interface MarkdownProps {
  readonly text: string
  /** Shows a caret at the end while more text is expected. */
  readonly growing?: boolean
}

/** A reply as elements, or as plain text when its Markdown cannot be drawn. */
export const Markdown = memo((props: MarkdownProps) => (
  <ErrorBoundary fallback={<p className="whitespace-pre-wrap">{props.text}</p>}>
    <Prose {...props} />
  </ErrorBoundary>
))

/** A growing text costs only the added part. */
function Prose({ text, growing = false }: MarkdownProps) {
  const last = useRef<{ text: string; blocks: Blocks }>({ text: '', blocks: NO_BLOCKS })
  const blocks = useMemo(() => {
    const before = text.startsWith(last.current.text) ? last.current.blocks : NO_BLOCKS
    const now = grow(before, text)
    last.current = { text, blocks: now }
    return now
  }, [text])
  return (
    <div className={`prose ${growing ? 'caret' : ''}`}>
      {withIndexKeys([...blocks.settled, ...blocks.open]).map(({ key, item }) => (
        <Block key={key} token={item} />
      ))}
    </div>
  )
}
