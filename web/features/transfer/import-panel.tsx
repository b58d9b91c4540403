import { FileJson } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import type { ConfigExport } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { ProgressBar } from '../../ui/bars.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/page.tsx'
import { type FileImport, type Mode, useFileImport } from './file-import.ts'
import { type Carried, plan, readConfig } from './plan.ts'
import { PlanTable } from './plan-table.tsx'
import { Report } from './report.tsx'

/** A larger file has no preview, because the browser would hold it in memory. */
const PREVIEW_BYTES_MAX = 8 * 1024 * 1024

interface Chosen {
  readonly file: File
  /** Null when the file is not a configuration of this product; undefined when it is too large. */
  readonly config: Carried | null | undefined
  /** Whether the browser could not read it: it was moved, or it may not. */
  readonly isUnread?: boolean
}

/** Shows the changes that a file makes, asks for confirmation, and reports each item. */
export function ImportPanel({ held }: { readonly held: ConfigExport | null }) {
  const { t } = useI18n()
  const input = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const { current, start, forget } = useFileImport(() => setChosen(null))
  const busy = current !== null && current.result === null
  const choose = async (file: File | undefined) => {
    if (!file) return
    forget()
    const isShort = file.size <= PREVIEW_BYTES_MAX
    try {
      // One that cannot be read fails at its first byte, however large it is.
      const text = await (isShort ? file : file.slice(0, 1)).text()
      setChosen({ file, config: isShort ? readConfig(text) : undefined })
    } catch {
      setChosen({ file, config: null, isUnread: true })
    }
  }
  return (
    <div className="card grid gap-5 p-6">
      <div className="flex flex-wrap items-center gap-3">
        <Button
          icon={<FileJson size={16} aria-hidden />}
          disabled={busy}
          onClick={() => input.current?.click()}
        >
          {t('transfer.choose')}
        </Button>
        <span className="min-w-0 text-ink-2 [overflow-wrap:anywhere]">
          {current?.name ?? chosen?.file.name}
        </span>
        <input
          ref={input}
          type="file"
          accept="application/json,.json"
          className="hidden"
          aria-label={t('transfer.choose')}
          onChange={(event) => {
            void choose(event.target.files?.[0])
            event.target.value = ''
          }}
        />
      </div>
      <div role="alert" className="empty:hidden">
        {chosen?.config === null && (
          <Notice tone="bad">{t(chosen.isUnread ? 'transfer.unread' : 'transfer.wrong')}</Notice>
        )}
      </div>
      {chosen && chosen.config !== null && held && (
        <Planning
          wanted={chosen.config}
          held={held}
          busy={busy}
          onImport={(mode) => start({ file: chosen.file, mode })}
        />
      )}
      <div aria-live="polite">{current && <Progress current={current} />}</div>
    </div>
  )
}

function Progress({ current: { share, result } }: { readonly current: FileImport }) {
  const { t } = useI18n()
  if (result) return <Report result={result} />
  return (
    <div data-testid="import-progress">
      <p className="text-ink-2">{t('transfer.sending', { percent: Math.floor(share * 100) })}</p>
      <ProgressBar share={share} />
    </div>
  )
}

interface PlanningProps {
  readonly wanted: Carried | undefined
  readonly held: ConfigExport
  readonly busy: boolean
  readonly onImport: (mode: Mode) => void
}

function Planning({ wanted, held, busy, onImport }: PlanningProps) {
  const { t } = useI18n()
  const label = useId()
  const [mode, setMode] = useState<Mode>('skip')
  const [asked, setAsked] = useState(false)
  const planned = wanted ? plan(wanted, held, mode) : []
  const documents = wanted?.documents?.length ?? 0
  const overwritten = planned.filter(({ fate }) => fate === 'overwrite').length
  const isUnknown = mode === 'merge' && (!wanted || documents > 0)
  const go = () => {
    setAsked(false)
    onImport(mode)
  }
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <span id={label}>{t('transfer.mode')}</span>
        <fieldset className="segmented" aria-labelledby={label}>
          {(['skip', 'merge'] as const).map((choice) => (
            <button
              key={choice}
              type="button"
              aria-pressed={mode === choice}
              onClick={() => setMode(choice)}
            >
              {t(`transfer.mode.${choice}`)}
            </button>
          ))}
        </fieldset>
      </div>
      {!wanted && <Notice>{t('transfer.large')}</Notice>}
      {planned.length > 0 && <PlanTable planned={planned} />}
      {documents > 0 && <Notice>{t('transfer.documents', { count: documents })}</Notice>}
      <div className="flex justify-end">
        <Button
          kind="primary"
          busy={busy}
          onClick={() => (overwritten > 0 || isUnknown ? setAsked(true) : go())}
        >
          {t('transfer.go')}
        </Button>
      </div>
      <Confirm
        title={t('transfer.merge.title')}
        loss={
          isUnknown ? t('transfer.merge.all') : t('transfer.merge.loss', { count: overwritten })
        }
        action={t('transfer.go')}
        open={asked}
        busy={busy}
        onConfirm={go}
        onClose={() => setAsked(false)}
      />
    </>
  )
}
