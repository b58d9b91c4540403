import { CodeXml, ImageDown, Maximize, Square } from 'lucide-react'
import type { RefObject } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { downloadBlob } from '../markdown/download.ts'
import { pngOf } from './files.ts'
import type { ArtifactKind } from './kinds.ts'

const ICON = { size: 16, 'aria-hidden': true } as const
const QUIET = { kind: 'quiet', size: 'small' } as const

interface ActsProps {
  readonly kind: ArtifactKind
  /** The drawing as a file; null for a page, and until it is drawn. */
  readonly svg: string | null
  readonly place: RefObject<HTMLElement | null>
  readonly isCode: boolean
  readonly onCode: () => void
  readonly onStop: () => void
}

/** What can be done with a block that is shown, beside the buttons of its code. */
export function ArtifactActs({ kind, svg, place, isCode, onCode, onStop }: ActsProps) {
  const { t } = useI18n()
  return (
    <>
      {kind === 'html' && (
        <Button {...QUIET} icon={<Square {...ICON} />} onClick={onStop}>
          {t('draw.stop')}
        </Button>
      )}
      <Button
        {...QUIET}
        icon={<CodeXml {...ICON} />}
        aria-label={t('draw.code')}
        aria-pressed={isCode}
        onClick={onCode}
      />
      {svg !== null && <Downloads svg={svg} />}
      {!isCode && document.fullscreenEnabled && (
        <Button
          {...QUIET}
          icon={<Maximize {...ICON} />}
          aria-label={t('draw.full')}
          onClick={() => void place.current?.querySelector('.artifact-view')?.requestFullscreen()}
        />
      )}
    </>
  )
}

function Downloads({ svg }: { readonly svg: string }) {
  const { t } = useI18n()
  const toasts = useToasts()
  async function savePng(): Promise<void> {
    try {
      downloadBlob(await pngOf(svg), 'drawing.png')
    } catch {
      toasts.show('bad', t('draw.unreadable'))
    }
  }
  const saveSvg = () => downloadBlob(new Blob([svg], { type: 'image/svg+xml' }), 'drawing.svg')
  const icon = <ImageDown {...ICON} />
  return (
    <>
      <Button {...QUIET} icon={icon} aria-label={t('draw.svg')} onClick={saveSvg}>
        SVG
      </Button>
      <Button {...QUIET} icon={icon} aria-label={t('draw.png')} onClick={() => void savePng()}>
        PNG
      </Button>
    </>
  )
}
