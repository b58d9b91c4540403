import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, Download, Save, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { BACKUP_PASSPHRASE_CHARS_MIN } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Backups as State, SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain, useToasts } from '../../lib/services.tsx'
import { sizeOf } from '../../lib/sizes.ts'
import { MINUTE_MS, useNow } from '../../lib/time.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { Ago, Notice, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { downloadBlob } from '../markdown/download.ts'
import { sectionOf } from './parts.ts'
import { SystemSectionForm } from './section.tsx'
import { backupClass } from './wrong-value.ts'

/** The page reads the state again this often, since a backup ends without it. */
const AGAIN_MS = 20_000

/** Whoever asks for a backup waits for how it ends. */
const MADE_MS = 1_000

/** Has a backup made; ends when it has, whether well or not. */
async function madeBackup(onState: (state: State) => void): Promise<State> {
  let state = await api.system.backUp()
  while (state.place !== null && state.next_at === null) {
    onState(state)
    await new Promise((resolve) => setTimeout(resolve, MADE_MS))
    state = await api.system.backups()
  }
  return state
}

/** The last backup and the next, one at once, and one to keep. */
export function Backups({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const backups = useQuery({
    queryKey: ['system', 'backups'],
    queryFn: api.system.backups,
    refetchInterval: AGAIN_MS,
  })
  const toasts = useToasts()
  const client = useQueryClient()
  const show = (state: State) => client.setQueryData(['system', 'backups'], state)
  const make = useAction(() => madeBackup(show), {
    refresh: ['system'],
    onDone: ({ last }) => {
      const why = t(backupClass(last?.error_class))
      if (last?.ok) toasts.show('good', t('backups.made'))
      else toasts.show('bad', t('backups.unmade', { why }))
    },
  })
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
          {last?.ok === false && (
            <>
              {t('backups.failed.at')} <Ago at={last.at} /> · {t(backupClass(last.error_class))}
            </>
          )}
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
  return (
    <Form isWhole={isGood} onSend={() => get.mutate(undefined)}>
      <TextField
        label={t('backups.passphrase')}
        hint={t('backups.passphrase.hint', { min: BACKUP_PASSPHRASE_CHARS_MIN })}
        type="password"
        autoComplete="new-password"
        lacks={!isGood && t('backups.passphrase.hint', { min: BACKUP_PASSPHRASE_CHARS_MIN })}
        value={passphrase}
        onText={setPassphrase}
      />
      <div aria-live="polite">{get.error && <Notice tone="bad">{explain(get.error)}</Notice>}</div>
      <FormEnd action={t('backups.download')} busy={get.isPending} onCancel={onClose} />
    </Form>
  )
}
