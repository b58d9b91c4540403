import { useQuery } from '@tanstack/react-query'
import { Plus, Zap } from 'lucide-react'
import { useState } from 'react'
import {
  TRIGGER_NAME_CHARS_MAX,
  TRIGGER_TEXT_CHARS_MAX,
  TRIGGER_WEBHOOKS_MAX,
} from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import { type Trigger, type TriggerRequest, webhooks } from '../../api/webhooks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { AreaField, SelectField, SwitchField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { namedChoices } from '../../ui/named-choices.ts'
import { Ago, Badge, Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { EndWebhooks } from './end-webhooks.tsx'

type Asked = { readonly what: 'edit' | 'delete'; readonly trigger: Trigger | null }

interface TriggerListProps {
  readonly onSecret: (url: string) => void
}

/** Addresses at which a call from outside begins a run. */
export function TriggerList({ onSecret }: TriggerListProps) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useQuery({ queryKey: ['triggers'], queryFn: webhooks.triggers })
  const close = () => setAsked(null)
  const trigger = asked?.trigger ?? null
  const remove = useAction(webhooks.removeTrigger, {
    ...{ done: 'triggers.deleted', refresh: ['triggers'], onDone: close },
    onGone: close,
  })
  const add = (
    <Button
      icon={<Plus size={16} aria-hidden />}
      onClick={() => setAsked({ what: 'edit', trigger: null })}
    >
      {t('triggers.new')}
    </Button>
  )
  return (
    <Section
      title={t('triggers.title')}
      about={t('triggers.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      <Loaded query={query}>
        {(triggers) => (
          <ul className="card divide-y divide-line">
            {triggers.length === 0 && (
              <li>
                <Empty icon={<Zap />} title={t('triggers.none')} text={t('triggers.none.text')} />
              </li>
            )}
            {triggers.map((one) => (
              <li key={one.id} className="flex flex-wrap items-center gap-3 px-5 py-3">
                <span className="min-w-0 flex-1 basis-full break-words sm:basis-0">{one.name}</span>
                {!one.enabled && <Badge tone="warn">{t('hooks.off')}</Badge>}
                <span className="text-note text-ink-2">
                  {t('triggers.count', { count: one.count })}
                  {one.last_at && (
                    <>
                      {' · '}
                      <Ago at={one.last_at} />
                    </>
                  )}
                </span>
                <ForEditors>
                  <Button
                    size="small"
                    aria-label={t('triggers.edit.one', { name: one.name })}
                    onClick={() => setAsked({ what: 'edit', trigger: one })}
                  >
                    {t('action.edit')}
                  </Button>
                  <Button
                    size="small"
                    aria-label={t('triggers.delete.title', { name: one.name })}
                    onClick={() => setAsked({ what: 'delete', trigger: one })}
                  >
                    {t('action.delete')}
                  </Button>
                </ForEditors>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <Dialog
        title={t(trigger ? 'triggers.edit' : 'triggers.new')}
        open={asked?.what === 'edit'}
        onClose={close}
        wide
      >
        <TriggerForm key={trigger?.id ?? 'new'} {...{ trigger, onSecret }} onClose={close} />
      </Dialog>
      <Confirm
        title={t('triggers.delete.title', { name: trigger?.name ?? '' })}
        loss={t('triggers.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => trigger && remove.mutate(trigger.id)}
        onClose={close}
      />
    </Section>
  )
}

interface TriggerFormProps extends TriggerListProps {
  readonly trigger: Trigger | null
  readonly onClose: () => void
}

const NEW: TriggerRequest = {
  ...{ name: '', app_id: null, text: '', session: 'new', webhook_ids: [], enabled: true },
}

function TriggerForm({ trigger, onSecret, onClose }: TriggerFormProps) {
  const { t } = useI18n()
  const [input, setInput] = useState<TriggerRequest>(trigger ?? NEW)
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const change = (more: Partial<TriggerRequest>) => setInput({ ...input, ...more })
  const save = useAction(
    async () => {
      const { name, app_id, text, session, webhook_ids, enabled } = input
      const asked = { name, app_id, text, session, webhook_ids, enabled }
      if (trigger) await webhooks.updateTrigger(trigger.id, asked)
      else onSecret((await webhooks.createTrigger(asked)).url)
    },
    { done: 'triggers.saved', refresh: ['triggers'], onDone: onClose },
  )
  const count = [...input.text.trim()].length
  const valid = input.name.trim() !== '' && count > 0 && count <= TRIGGER_TEXT_CHARS_MAX
  return (
    <Form isWhole={valid} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('field.name')}
        value={input.name}
        maxLength={TRIGGER_NAME_CHARS_MAX}
        required
        onText={(name) => change({ name })}
      />
      <AreaField
        label={t('triggers.text')}
        hint={t('triggers.text.hint', { body: '{{body}}' })}
        value={input.text}
        charsMax={TRIGGER_TEXT_CHARS_MAX}
        rows={5}
        required
        onText={(text) => change({ text })}
      />
      <SelectField
        label={t('triggers.app')}
        value={input.app_id ?? ''}
        choices={namedChoices(apps.data?.apps, input.app_id ?? '', {
          none: t('triggers.app.none'),
          gone: t('schedules.gone'),
        })}
        onPick={(id) => change({ app_id: id || null })}
      />
      <EndWebhooks
        chosen={input.webhook_ids}
        max={TRIGGER_WEBHOOKS_MAX}
        onChoose={(ids) => change({ webhook_ids: [...ids] })}
      />
      <SwitchField
        label={t('triggers.same')}
        hint={t('triggers.same.hint')}
        on={input.session === 'same'}
        onChange={(on) => change({ session: on ? 'same' : 'new' })}
      />
      <SwitchField
        label={t('hooks.enabled')}
        on={input.enabled}
        onChange={(enabled) => change({ enabled })}
      />
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}
