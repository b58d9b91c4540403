import { useContext, useId, useState } from 'react'
import {
  WEBHOOK_EVENTS,
  WEBHOOK_NAME_CHARS_MAX,
  WEBHOOK_URL_CHARS_MAX,
} from '../../../src/core/limits/contract.ts'
import type { WebhookEvent } from '../../../src/features/webhooks/model.ts'
import { type Webhook, type WebhookRequest, webhooks } from '../../api/webhooks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, SwitchField, TextField, Tried } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'

interface WebhookDialogProps {
  /** Null makes a new one. */
  readonly webhook: Webhook | null
  readonly open: boolean
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

export function WebhookDialog(props: WebhookDialogProps) {
  const { t } = useI18n()
  const { webhook, open, onClose } = props
  return (
    <Dialog title={t(webhook ? 'hooks.edit' : 'hooks.new')} open={open} onClose={onClose} wide>
      <WebhookForm key={webhook?.id ?? 'new'} {...props} />
    </Dialog>
  )
}

const NEW: WebhookRequest = {
  ...{ name: '', url: '', events: ['run.done', 'run.failed'], format: 'json' },
  ...{ include_reply: false, enabled: true },
}

function WebhookForm({ webhook, onClose, onSecret }: WebhookDialogProps) {
  const { t } = useI18n()
  const [input, setInput] = useState<WebhookRequest>(webhook ?? NEW)
  const change = (more: Partial<WebhookRequest>) => setInput({ ...input, ...more })
  const save = useAction(
    async () => {
      const { name, url, events, format, include_reply, enabled } = input
      const asked = { name, url, events, format, include_reply, enabled }
      if (webhook) await webhooks.update(webhook.id, asked)
      else onSecret((await webhooks.create(asked)).secret)
    },
    { done: 'hooks.saved', refresh: ['webhooks'], onDone: onClose },
  )
  const valid = input.name.trim() !== '' && input.url.trim() !== '' && input.events.length > 0
  return (
    <Form isWhole={valid} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('field.name')}
        value={input.name}
        maxLength={WEBHOOK_NAME_CHARS_MAX}
        required
        onText={(name) => change({ name })}
      />
      <TextField
        label={t('hooks.url')}
        hint={t('hooks.url.hint')}
        type="url"
        required
        value={input.url}
        maxLength={WEBHOOK_URL_CHARS_MAX}
        onText={(url) => change({ url })}
      />
      <Events chosen={input.events} onChange={(events) => change({ events })} />
      <SelectField
        label={t('hooks.format')}
        value={input.format}
        choices={[
          { value: 'json', label: t('hooks.format.json') },
          { value: 'text', label: t('hooks.format.text') },
        ]}
        onPick={(format) => change({ format: format === 'text' ? 'text' : 'json' })}
      />
      <SwitchField
        label={t('hooks.reply')}
        hint={t('hooks.reply.hint')}
        on={input.include_reply}
        onChange={(include_reply) => change({ include_reply })}
      />
      <SwitchField
        label={t('hooks.enabled')}
        hint={t('hooks.enabled.hint')}
        on={input.enabled}
        onChange={(enabled) => change({ enabled })}
      />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}

interface EventsProps {
  readonly chosen: readonly WebhookEvent[]
  readonly onChange: (events: WebhookEvent[]) => void
}

function Events({ chosen, onChange }: EventsProps) {
  const { t } = useI18n()
  const id = useId()
  const lacks = useContext(Tried) && chosen.length === 0
  const aria = lacks ? { 'aria-invalid': true, 'aria-describedby': id } : {}
  const toggle = (event: WebhookEvent) =>
    onChange(chosen.includes(event) ? chosen.filter((one) => one !== event) : [...chosen, event])
  return (
    <fieldset>
      <legend className="text-note font-medium">{t('hooks.events')}</legend>
      <div className="mt-2 grid gap-x-4 sm:grid-cols-2">
        {WEBHOOK_EVENTS.map((event) => (
          <label key={event} className="flex items-center gap-2">
            <input
              {...aria}
              type="checkbox"
              checked={chosen.includes(event)}
              onChange={() => toggle(event)}
            />
            {t(`hooks.event.${event}`)}
          </label>
        ))}
      </div>
      {lacks && (
        <p id={id} className="problem" role="alert">
          {t('hooks.events.none')}
        </p>
      )}
    </fieldset>
  )
}
