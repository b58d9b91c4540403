import { Play } from 'lucide-react'
import { useRef, useState } from 'react'
import { type I18n, useI18n } from '../../i18n/index.tsx'
import { useDark } from '../../lib/theme.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../markdown/code-block.tsx'
import { ArtifactActs } from './acts.tsx'
import { named, pictureOf } from './files.ts'
import { type End, Frame } from './frame.tsx'
import { type ArtifactKind, bytesOf, IN_PLACE_BYTES_MAX } from './kinds.ts'
import { useAlive } from './use-alive.ts'

interface ArtifactProps {
  readonly kind: ArtifactKind
  readonly text: string
  readonly language: string
}

/** A block of an answer that can be shown: a drawing in place, a page after a click. */
export function Artifact({ kind, text, language }: ArtifactProps) {
  const { t } = useI18n()
  const place = useRef<HTMLDivElement>(null)
  const [end, setEnd] = useState<End | null>(null)
  const [isCode, setCode] = useState(false)
  const [svg, setSvg] = useState<string | null>(kind === 'svg' ? named(text) : null)
  const isPage = kind === 'html'
  const [isWanted, setWanted] = useState(!isPage && bytesOf(text) <= IN_PLACE_BYTES_MAX)
  const { isAwake, wake, sleep } = useAlive(place, kind, isWanted && !isPage && end === null)
  const isShown = isAwake && end === null
  function show(): void {
    setEnd(null)
    setCode(false)
    setWanted(true)
    wake()
  }
  function stop(reason: End | null): void {
    sleep()
    setEnd(reason)
    setWanted(false)
  }
  const acts = isShown ? (
    <ArtifactActs
      {...{ kind, svg, place, isCode }}
      onCode={() => setCode(!isCode)}
      onStop={() => stop(null)}
    />
  ) : (
    <Button kind="quiet" size="small" icon={<Play size={16} aria-hidden />} onClick={show}>
      {t(isPage ? 'draw.run' : 'draw.draw')}
    </Button>
  )
  return (
    <div ref={place} className="artifact" data-kind={kind} data-code={!isShown || isCode}>
      <CodeBlock text={text} language={language} acts={acts}>
        {isShown && <View {...{ kind, text }} onSvg={setSvg} onEnd={stop} />}
        {end !== null && (
          <p role="status" className="artifact-line">
            {lineOf(end, t)}
          </p>
        )}
      </CodeBlock>
    </div>
  )
}

const lineOf = (end: End, t: I18n['t']): string =>
  typeof end === 'string' ? t(`draw.${end}`) : t('draw.failed', { line: end.line })

interface ViewProps {
  readonly kind: ArtifactKind
  readonly text: string
  readonly onSvg: (svg: string | null) => void
  readonly onEnd: (end: End) => void
}

/** What is shown stays mounted while its code is looked at, so a page goes on where it was. */
function View({ kind, text, onSvg, onEnd }: ViewProps) {
  const { t } = useI18n()
  const dark = useDark()
  const title = t(kind === 'html' ? 'draw.page' : 'draw.title', { kind })
  if (kind === 'svg') {
    const onError = () => onEnd({ line: t('draw.unreadable') })
    return (
      <div className="artifact-view" data-kind={kind}>
        <img src={pictureOf(named(text))} alt={title} onError={onError} />
      </div>
    )
  }
  return (
    <div className="artifact-view" data-kind={kind}>
      <Frame
        // A drawing is drawn anew in the other colours; a page would lose what was done in it.
        key={kind === 'html' ? '' : String(dark)}
        order={{ kind, text, dark }}
        title={title}
        onDrawn={onSvg}
        onEnd={onEnd}
      />
    </div>
  )
}
