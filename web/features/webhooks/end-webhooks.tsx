import { useQuery } from '@tanstack/react-query'
import { type Webhook, webhooks } from '../../api/webhooks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SwitchField } from '../../ui/form.tsx'

interface EndWebhooksProps {
  readonly chosen: readonly string[]
  readonly max: number
  readonly onChoose: (ids: readonly string[]) => void
}

/**
 * Which webhooks are told how a run ended. Nothing where there is none. Where as many are chosen as
 * a run may have, another one can be chosen once one of them is switched off.
 */
export function EndWebhooks({ chosen, max, onChoose }: EndWebhooksProps) {
  const { t } = useI18n()
  const hooks = useQuery({ queryKey: ['webhooks'], queryFn: webhooks.list, retry: false })
  const known = hooks.data ?? []
  const gone = hooks.data ? chosen.filter((id) => !known.some((one) => one.id === id)) : []
  if (known.length + gone.length === 0) return null
  const choose = (id: string, on: boolean) =>
    onChoose(on ? [...chosen, id] : chosen.filter((one) => one !== id))
  const isFull = chosen.length >= max && known.length + gone.length > max
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-2 text-note font-medium">{t('runs.webhooks')}</legend>
      <p role="status" className="text-small text-ink-2 empty:hidden">
        {isFull && t('runs.webhooks.full', { max })}
      </p>
      {known.map((one) => (
        <SwitchField
          key={one.id}
          label={one.name}
          {...(hasRuns(one) ? {} : { hint: t('runs.webhooks.deaf') })}
          on={chosen.includes(one.id)}
          isOff={isFull && !chosen.includes(one.id)}
          onChange={(on) => choose(one.id, on)}
        />
      ))}
      {gone.map((id) => (
        <SwitchField
          key={id}
          label={t('runs.webhooks.gone')}
          on
          onChange={(on) => choose(id, on)}
        />
      ))}
    </fieldset>
  )
}

const hasRuns = ({ events }: Webhook) => events.some((event) => event.startsWith('run.'))
