import { useQuery } from '@tanstack/react-query'
import { CircleCheck, Download, Save, TriangleAlert } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { BACKUP_PASSPHRASE_CHARS_MIN } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Backups as State, SystemSetting } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { sizeOf } from '../../lib/sizes.ts'
import { MINUTE_MS, useNow } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { FormEnd } from '../../ui/form-end.tsx'
import { Ago, Notice, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { downloadBlob } from '../markdown/download.ts'
import { sectionOf } from './parts.ts'
import { SystemSectionForm } from './section.tsx'

/** The page reads the state again this often, since a backup ends without it. */
const AGAIN_MS = 20_000

/** The last backup and the next, one at once, and one to keep. */
export function Backups({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const backups = useQuery({
    queryKey: ['system', 'backups'],
    queryFn: api.system.backups,
    refetchInterval: AGAIN_MS,
  })
  const make = useAction(api.system.backUp, { done: 'backups.begun', refresh: ['system'] })
  const [asks, setAsks] = useState(false)
  const section = sectionOf('backup')
  const own = settings.filter(({ name }) => section.names.includes(name))
  return (
    <Section
      title={t('backups.title')}
      about={t('backups.about')}
      actions={
        <div className="flex flex-wrap gap-2">
          <Button
            icon={<Save size={16} aria-hidden />}
            busy={make.isPending}
            idle={!backups.data?.place}
            onClick={() => make.mutate(undefined)}
          >
            {t('backups.now')}
          </Button>
          <Button icon={<Download size={16} aria-hidden />} onClick={() => setAsks(true)}>
            {t('backups.download')}
          </Button>
        </div>
      }
    >
      <div className="grid gap-3">
        <Loaded query={backups}>{(state) => <Rows state={state} />}</Loaded>
        <SystemSectionForm section={section} settings={own} />
        <p className="text-note text-ink-2">{t('backups.restore')}</p>
      </div>
      <Dialog title={t('backups.download')} open={asks} onClose={() => setAsks(false)}>
        <DownloadForm onClose={() => setAsks(false)} />
      </Dialog>
    </Section>
  )
}

function Rows({ state }: { readonly state: State }) {
  const { t, locale } = useI18n()
  const { place, last, next_at: next, kept } = state
  if (place === null) return <Notice tone="warn">{t('backups.none')}</Notice>
  return (
    <div className="card grid gap-2 p-5">
      <p className="flex gap-2">
        {last?.ok ? (
          <CircleCheck size={16} className="mt-1 flex-none text-good" aria-hidden />
        ) : (
          <TriangleAlert size={16} className="mt-1 flex-none text-warn" aria-hidden />
        )}
        <span className="min-w-0">
          {last === null && t('backups.waiting')}
          {last?.ok && (
            <>
              {t('backups.last')} <Ago at={last.at} /> ({sizeOf(last.bytes, locale)})
            </>
          )}
          {last?.ok === false && t(`backups.class.${last.error_class ?? 'error'}` as Key)}
        </span>
      </p>
      <p className="text-note text-ink-2">
        {next === null ? t('backups.busy') : <Next at={+new Date(next)} />}
      </p>
      <details>
        <summary className="target cursor-pointer text-note">
          {t('backups.kept', { count: kept.length })}
        </summary>
        <ul className="mt-2 grid gap-1 text-small">
          {kept.map(({ name, at, bytes }) => (
            <li key={name} className="break-all">
              <Ago at={at} /> · {sizeOf(bytes, locale)} · {name}
            </li>
          ))}
        </ul>
      </details>
    </div>
  )
}

/** "Now" would promise a backup that is up to a minute away. */
function Next({ at }: { readonly at: number }) {
  const { t } = useI18n()
  const isSoon = at - useNow(MINUTE_MS / 6) < MINUTE_MS
  return isSoon ? (
    t('backups.soon')
  ) : (
    <>
      {t('backups.next')} <Ago at={at} />
    </>
  )
}

function DownloadForm({ onClose }: { readonly onClose: () => void }) {
  const { t } = useI18n()
  const explain = useExplain()
  const [passphrase, setPassphrase] = useState('')
  const get = useAction(() => api.system.downloadBackup(passphrase), {
    shows: () => true,
    onDone: ({ name, blob }) => {
      downloadBlob(blob, name)
      onClose()
    },
  })
  const isGood =
    passphrase.trim().length >= BACKUP_PASSPHRASE_CHARS_MIN && /^[ -~]*$/.test(passphrase)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isGood) get.mutate(undefined)
  }
  return (
    <form className="grid gap-5" onSubmit={submit}>
      <TextField
        label={t('backups.passphrase')}
        hint={t('backups.passphrase.hint', { min: BACKUP_PASSPHRASE_CHARS_MIN })}
        type="password"
        autoComplete="new-password"
        value={passphrase}
        onText={setPassphrase}
      />
      <div aria-live="polite">{get.error && <Notice tone="bad">{explain(get.error)}</Notice>}</div>
      <FormEnd
        action={t('backups.download')}
        busy={get.isPending}
        disabled={!isGood}
        onCancel={onClose}
      />
    </form>
  )
}
