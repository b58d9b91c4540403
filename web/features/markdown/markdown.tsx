import type { Token } from 'marked'
import { memo, useMemo, useState } from 'react'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { ErrorBoundary } from '../../shell/boundary.tsx'
import { createReader } from './blocks.ts'
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
  const [read] = useState(createReader)
  const { settled, open, rest } = useMemo(() => read(text, growing), [read, text, growing])
  return (
    <div className={`prose ${growing ? 'caret' : ''}`}>
      {withIndexKeys([...settled, ...open]).map(({ key, item }) => (
        <Block key={key} token={item} />
      ))}
      {rest !== '' && <p className="whitespace-pre-wrap">{rest}</p>}
    </div>
  )
}
