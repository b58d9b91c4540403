import { useQuery } from '@tanstack/react-query'
import { RUN_MODEL_CALLS_MAX } from '../../../src/core/limits/contract.ts'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { ScheduleInput } from '../../api/schedules.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SwitchField, TextField } from '../../ui/form.tsx'

export type RunLimitsInput = Pick<ScheduleInput, 'max_model_calls' | 'approved_tools'>

interface RunLimitsProps {
  readonly limits: RunLimitsInput
  readonly onLimits: (limits: RunLimitsInput) => void
}

/** How often a run may call the model, and which tools it may use without asking a person. */
export function RunLimits({ limits, onLimits }: RunLimitsProps) {
  const { t } = useI18n()
  const servers = useQuery({ queryKey: ['mcp-servers'], queryFn: mcpServers.list })
  const asking = (servers.data?.servers ?? []).flatMap(({ name: server, tools }) =>
    tools
      .filter(({ ask, state }) => ask && state === 'approved')
      .map(({ call_name, name, title }) => ({
        call_name,
        label: t('system.summary', {
          name: server,
          value: title === null ? name : `${title} (${name})`,
        }),
      })),
  )
  const { max_model_calls, approved_tools } = limits
  const approve = (name: string, on: boolean) => {
    const others = approved_tools.filter((one) => one !== name)
    onLimits({ max_model_calls, approved_tools: on ? [...others, name] : others })
  }
  return (
    <>
      <TextField
        label={t('runs.calls')}
        hint={t('runs.calls.hint', { max: RUN_MODEL_CALLS_MAX })}
        type="number"
        required
        min={1}
        max={RUN_MODEL_CALLS_MAX}
        value={max_model_calls === 0 ? '' : String(max_model_calls)}
        onText={(value) => onLimits({ max_model_calls: Number(value), approved_tools })}
      />
      {asking.length > 0 && (
        <fieldset className="grid gap-3">
          <legend className="mb-1 text-note font-medium">{t('runs.tools')}</legend>
          <p className="text-small text-ink-3">{t('runs.tools.hint')}</p>
          {asking.map(({ call_name, label }) => (
            <SwitchField
              key={call_name}
              label={label}
              on={approved_tools.includes(call_name)}
              onChange={(on) => approve(call_name, on)}
            />
          ))}
        </fieldset>
      )}
    </>
  )
}
