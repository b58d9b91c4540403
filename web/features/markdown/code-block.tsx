import { Download, WrapText } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { download, endingOf } from './download.ts'
import type { Highlighted } from './highlight.ts'

/** Code is coloured once its text has not grown for this long. */
const STILL_MS = 150
const COLOURED_CHARS_MAX = 20_000

export interface CodeProps {
  readonly text: string
  /** The language after the fence; may be empty. */
  readonly language: string
}

interface CodeBlockProps extends CodeProps {
  /** More buttons, before those of the code. */
  readonly acts?: ReactNode
  /** What stands above the code. */
  readonly children?: ReactNode
}

/** A block of code with the name of its language. */
export function CodeBlock({ text, language, acts, children: above }: CodeBlockProps) {
  const { t } = useI18n()
  const coloured = useColours(text, language)
  const [isWrapped, setWrapped] = useState(true)
  const icon = { size: 16, 'aria-hidden': true } as const
  const quiet = { kind: 'quiet', size: 'small' } as const
  return (
    <div className="code-block" data-wrapped={isWrapped}>
      <div className="code-head">
        <span className="code-name truncate">{language}</span>
        {acts}
        <Button
          {...quiet}
          icon={<WrapText {...icon} />}
          className="code-wrap"
          aria-label={t('code.wrap')}
          aria-pressed={isWrapped}
          onClick={() => setWrapped(!isWrapped)}
        />
        <Button
          {...quiet}
          icon={<Download {...icon} />}
          aria-label={t('code.download')}
          onClick={() => download(text, `code.${endingOf(language)}`)}
        />
        <CopyButton text={text} size="small" />
      </div>
      {above}
      {/* Long lines scroll with the arrow keys. */}
      <pre className="code" tabIndex={isWrapped ? undefined : 0}>
        <code>{coloured ? children(coloured) : text}</code>
      </pre>
    </div>
  )
}

function useColours(text: string, language: string): Highlighted | null {
  const [known, setKnown] = useState<{ text: string; tree: Highlighted | null } | null>(null)
  useEffect(() => {
    if (language === '' || text.length > COLOURED_CHARS_MAX) return
    let isHere = true
    const colour = ({ highlight }: typeof import('./highlight.ts')) =>
      isHere && setKnown({ text, tree: highlight(text, language) })
    // Where it cannot be loaded, the frame says so, and the code stays as it is.
    const timer = setTimeout(
      () => loadChunk(() => import('./highlight.ts')).then(colour, () => {}),
      STILL_MS,
    )
    return () => {
      isHere = false
      clearTimeout(timer)
    }
  }, [text, language])
  return known?.text === text ? known.tree : null
}

const children = ({ children: nodes }: Highlighted): ReactNode =>
  withIndexKeys(nodes).map(({ key, item }) => {
    if (item.type === 'text') return <Fragment key={key}>{item.value}</Fragment>
    if (item.type !== 'element') return null
    const { className } = item.properties
    return (
      <span key={key} className={Array.isArray(className) ? className.join(' ') : undefined}>
        {children({ children: item.children })}
      </span>
    )
  })
