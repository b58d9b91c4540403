import { CopyButton } from './button.tsx'

interface SnippetProps {
  readonly text: string
  /** What it is written in, or for. */
  readonly name: string
  readonly what?: string
}

/** It scrolls with the arrow keys. */
const MOVABLE = { tabIndex: 0 } as const

/** Lines to copy. They scroll, because a key that is broken in two reads as two. */
export function Snippet({ text, name, what }: SnippetProps) {
  return (
    <div className="code-block" data-wrapped="false">
      <div className="code-head">
        <span className="code-name">{name}</span>
        <CopyButton text={text} size="small" {...(what === undefined ? {} : { what })} />
      </div>
      <pre className="code" {...MOVABLE}>
        {text}
      </pre>
    </div>
  )
}
