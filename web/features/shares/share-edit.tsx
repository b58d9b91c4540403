import { useState } from 'react'
import {
  SHARE_NAME_CHARS_MAX,
  SHARE_TITLE_CHARS_MAX,
  SHARE_TURNS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { App, Share } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, SelectField, SwitchField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { LookPreview } from './look-preview.tsx'

interface EditProps {
  readonly app: App
  /** Null: closed. */
  readonly share: Share | null
  readonly onClose: () => void
}

export function ShareEdit({ app, share, onClose }: EditProps) {
  const { t } = useI18n()
  const title = t('app.shares.edit.title', { name: share?.name ?? '' })
  return (
    <Dialog title={title} open={share !== null} onClose={onClose}>
      {share && <EditForm app={app} share={share} onClose={onClose} />}
    </Dialog>
  )
}

type Look = Share['look']

function EditForm({ app, share, onClose }: EditProps & { readonly share: Share }) {
  const { t } = useI18n()
  const [name, setName] = useState(share.name)
  const [origins, setOrigins] = useState(share.origins.join('\n'))
  const [turns, setTurns] = useState(String(share.daily_turns))
  const [paused, setPaused] = useState(share.paused)
  const [look, setLook] = useState<Look>(share.look)
  const count = Number(turns)
  const wrong = !Number.isInteger(count) || count < 1 || count > SHARE_TURNS_MAX
  const isColor = look.color === null || /^#[0-9a-f]{6}$/i.test(look.color)
  const save = useAction(api.shares.change, {
    done: 'app.shares.saved',
    refresh: ['shares'],
    onDone: onClose,
  })
  const send = () => {
    const sites = origins.split(/\s+/).filter((line) => line !== '')
    save.mutate({ share, to: { name, origins: sites, daily_turns: count, paused, look } })
  }

  return (
    <Form isWhole={!wrong && isColor && name.trim() !== ''} onSend={send}>
      <TextField
        label={t('field.name')}
        required
        maxLength={SHARE_NAME_CHARS_MAX}
        value={name}
        onText={setName}
      />
      <Field label={t('app.shares.origins')} hint={t('app.shares.origins.hint')}>
        {(ids) => (
          <textarea
            {...ids}
            className="input"
            rows={2}
            value={origins}
            onChange={(event) => setOrigins(event.target.value)}
          />
        )}
      </Field>
      <TextField
        label={t('app.shares.turns')}
        problem={wrong ? t('app.shares.turns.wrong', { max: SHARE_TURNS_MAX }) : null}
        inputMode="numeric"
        value={turns}
        onText={setTurns}
      />
      <SwitchField
        label={t('app.shares.pause')}
        hint={t('app.shares.pause.hint')}
        on={paused}
        onChange={setPaused}
      />
      <LookFields look={look} isColor={isColor} onLook={setLook} />
      <LookPreview app={app} look={look} isColor={isColor} />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}

interface LookProps {
  readonly look: Look
  readonly isColor: boolean
  readonly onLook: (look: Look) => void
}

function LookFields({ look, isColor, onLook }: LookProps) {
  const { t } = useI18n()
  return (
    <div className="grid items-start gap-5 sm:grid-cols-2">
      <TextField
        label={t('app.shares.look.title')}
        maxLength={SHARE_TITLE_CHARS_MAX}
        value={look.title ?? ''}
        onText={(title) => onLook({ ...look, title: title || null })}
      />
      <Field
        label={t('app.shares.look.color')}
        problem={isColor ? null : t('app.shares.look.color.wrong')}
      >
        {(ids) => (
          <div className="flex gap-2">
            <input
              {...ids}
              className="input min-w-0 flex-1"
              placeholder={t('app.shares.look.color.none')}
              value={look.color ?? ''}
              onChange={({ target }) => onLook({ ...look, color: target.value || null })}
            />
            <input
              type="color"
              aria-label={t('app.shares.look.color.pick')}
              className="input w-14 flex-none cursor-pointer px-1"
              value={(isColor && look.color) || '#6b7280'}
              onChange={({ target }) => onLook({ ...look, color: target.value })}
            />
          </div>
        )}
      </Field>
      <SelectField
        label={t('app.shares.look.position')}
        value={look.position}
        choices={[
          { value: 'right', label: t('app.shares.look.right') },
          { value: 'left', label: t('app.shares.look.left') },
        ]}
        onPick={(position) => onLook({ ...look, position: position as Look['position'] })}
      />
      <SelectField
        label={t('app.shares.look.language')}
        value={look.language}
        choices={[
          { value: 'auto', label: t('app.shares.look.auto') },
          { value: 'zh', label: '中文' },
          { value: 'en', label: 'English' },
        ]}
        onPick={(language) => onLook({ ...look, language: language as Look['language'] })}
      />
    </div>
  )
}
