import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { SOURCE_TITLE_CHARS_MAX, SOURCES_REFRESHED_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Refresh, Source } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { reload } from '../../lib/reload.ts'
import { useAction, useProblem } from '../../lib/services.tsx'
import { useSettled } from '../../lib/use-settled.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { titleOf } from './library.ts'
import { useTwin } from './twin.ts'

export const REFRESHES = ['off', 'daily', 'weekly'] as const satisfies readonly Refresh[]

interface PageDialogProps {
  readonly open: boolean
  /** The collection that the page goes into; null: none. */
  readonly collection?: string | null
  readonly onAdded?: (source: Source) => void
  readonly onClose: () => void
}

/** A dialog to add a web page by its address. */
export function PageDialog({ open, ...props }: PageDialogProps) {
  const { t } = useI18n()
  return (
    <Dialog title={t('kb.page.add')} about={t('kb.page.about')} open={open} onClose={props.onClose}>
      {open && <PageForm {...props} />}
    </Dialog>
  )
}

/** Adds the scheme, which people leave out. */
const withScheme = (text: string) => (/^[a-z][a-z+.-]*:/i.test(text) ? text : `https://${text}`)

const hrefOf = (text: string) =>
  text !== '' && URL.canParse(withScheme(text)) ? new URL(withScheme(text)).href : null

function PageForm({ collection = null, onAdded, onClose }: Omit<PageDialogProps, 'open'>) {
  const { t } = useI18n()
  const client = useQueryClient()
  const [url, setUrl] = useState('')
  const [title, setTitle] = useState('')
  const [refresh, setRefresh] = useState<Refresh>('off')
  const href = hrefOf(url.trim())
  const twin = useTwin({ url: useSettled(href ?? '') })
  const address = useProblem('url_')
  const add = useAction(api.sources.addPage, {
    shows: address.shows,
    onDone: (source) => {
      void reload(client, ['kb'])
      onAdded?.(source)
      onClose()
    },
  })
  const send = () => {
    if (href) add.mutate({ url: href, title: title.trim(), refresh, collection_id: collection })
  }

  return (
    <Form className="grid gap-4" isWhole={href !== null} onSend={send}>
      <TextField
        label={t('kb.page.url')}
        value={url}
        inputMode="url"
        required
        lacks={!href && t('form.address')}
        autoComplete="off"
        placeholder="https://example.com/help"
        problem={address.of(add.error)}
        hint={twin && t('kb.page.twin', { title: titleOf(twin) })}
        onText={setUrl}
      />
      <TextField
        label={t('kb.page.title')}
        hint={t('kb.page.title.hint')}
        value={title}
        maxLength={SOURCE_TITLE_CHARS_MAX}
        onText={setTitle}
      />
      <SelectField
        label={t('kb.refresh')}
        hint={t('kb.refresh.hint', { max: SOURCES_REFRESHED_MAX })}
        value={refresh}
        choices={REFRESHES.map((value) => ({ value, label: t(`kb.refresh.${value}`) }))}
        onPick={(value) => setRefresh(value as Refresh)}
      />
      <FormEnd action={t('action.add')} busy={add.isPending} onCancel={onClose} />
    </Form>
  )
}
