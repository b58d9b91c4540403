import { LoaderCircle, Wrench } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { toolName } from '../../i18n/tool-words.ts'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { ToolRun } from './tool-run.tsx'
import type { ToolUse } from './turn.ts'

/** The tools of an answer in one line; opened, it shows each call. */
export function ToolLine({ tools }: { readonly tools: readonly ToolUse[] }) {
  const { t, language } = useI18n()
  const [first] = tools
  if (!first) return null
  const isBusy = tools.some(({ ok }) => ok === null)
  const hasFailed = tools.some(({ ok, declined }) => ok === false && !declined)
  const isDeclined = tools.some(({ ok, declined }) => ok === false && declined)
  const more = tools.length - 1
  const names = { name: toolName(first.name, language), more }
  return (
    <details className="text-small text-ink-3">
      <summary className={`target cursor-pointer ${hasFailed ? 'text-bad' : ''}`}>
        {isBusy ? (
          <LoaderCircle size={13} className="mr-1.5 inline animate-spin" aria-hidden />
        ) : (
          <Wrench size={13} className="mr-1.5 inline" aria-hidden />
        )}
        {more > 0
          ? t(isBusy ? 'studio.tools.busy.more' : 'studio.tools.used.more', names)
          : t(isBusy ? 'studio.tools.busy' : 'studio.tools.used', names)}
        {isDeclined && ` · ${t('studio.tools.declined')}`}
        {hasFailed && ` · ${t('studio.tools.failed')}`}
      </summary>
      <div className="mt-2 grid gap-2">
        {withIndexKeys(tools).map(({ key, item }) => (
          <ToolRun key={key} use={item} />
        ))}
      </div>
    </details>
  )
}
