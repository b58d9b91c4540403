import { FileJson } from 'lucide-react'
import { useId, useRef, useState } from 'react'
import { api } from '../../api/index.ts'
import type { ConfigExport } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/page.tsx'
import { plan, readConfig } from './plan.ts'
import { PlanTable } from './plan-table.tsx'
import { Report } from './report.tsx'

type Mode = 'skip' | 'merge'

interface Chosen {
  readonly name: string
  /** Null when the file is not a configuration of this product. */
  readonly config: ConfigExport | null
}

/** Reads a file, shows its changes, asks for confirmation, and reports each item. */
export function ImportPanel({ held }: { readonly held: ConfigExport | null }) {
  const { t } = useI18n()
  const input = useRef<HTMLInputElement>(null)
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const bring = useAction(
    ({ config, mode }: { config: ConfigExport; mode: Mode }) => api.transfer.import(config, mode),
    {
      refresh: ['export', 'apps', 'personas', 'settings'],
      onDone: () => setChosen(null),
    },
  )
  const choose = async (file: File | undefined) => {
    bring.reset()
    if (file) setChosen({ name: file.name, config: readConfig(await file.text()) })
  }
  return (
    <div className="card grid gap-5 p-6">
      <div className="flex flex-wrap items-center gap-3">
        <Button icon={<FileJson size={16} aria-hidden />} onClick={() => input.current?.click()}>
          {t('transfer.choose')}
        </Button>
        <span className="text-ink-2">{chosen?.name}</span>
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
      {chosen?.config === null && <Notice tone="bad">{t('transfer.wrong')}</Notice>}
      {chosen?.config && held && (
        <Planning
          wanted={chosen.config}
          held={held}
          busy={bring.isPending}
          onImport={(mode) => chosen.config && bring.mutate({ config: chosen.config, mode })}
        />
      )}
      <div aria-live="polite">{bring.data && <Report result={bring.data} />}</div>
    </div>
  )
}

interface PlanningProps {
  readonly wanted: ConfigExport
  readonly held: ConfigExport
  readonly busy: boolean
  readonly onImport: (mode: Mode) => void
}

function Planning({ wanted, held, busy, onImport }: PlanningProps) {
  const { t } = useI18n()
  const label = useId()
  const [mode, setMode] = useState<Mode>('skip')
  const [asked, setAsked] = useState(false)
  const planned = plan(wanted, held, mode)
  const overwritten = planned.filter(({ fate }) => fate === 'overwrite').length
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
      <PlanTable planned={planned} />
      <div className="flex justify-end">
        <Button
          kind="primary"
          busy={busy}
          onClick={() => (overwritten > 0 ? setAsked(true) : go())}
        >
          {t('transfer.go')}
        </Button>
      </div>
      <Confirm
        title={t('transfer.merge.title')}
        loss={t('transfer.merge.loss', { count: overwritten })}
        action={t('transfer.go')}
        open={asked}
        busy={busy}
        onConfirm={go}
        onClose={() => setAsked(false)}
      />
    </>
  )
}
