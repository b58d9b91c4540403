import { Ban, Check, LoaderCircle, X } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { toolName } from '../../i18n/tool-words.ts'
import type { ToolUse } from './turn.ts'

/** JSON with line breaks; other or shortened text unchanged. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** A call of a tool; opened, it shows the arguments and the result. */
export function ToolRun({ use }: { readonly use: ToolUse }) {
  const { t, language } = useI18n()
  const icon = { size: 13, 'aria-hidden': true } as const
  const parts = [
    ['studio.tool.arguments', use.arguments],
    // What the model was told then is not for people; the line above says it.
    ['studio.tool.result', use.declined ? undefined : use.result],
  ] as const
  const known = parts.filter(([, text]) => text !== undefined)
  return (
    <details className="tool-run">
      <summary>
        {use.ok === null && <LoaderCircle {...icon} className="animate-spin" />}
        {use.ok === true && <Check {...icon} className="text-good" />}
        {use.ok === false && !use.declined && <X {...icon} className="text-bad" />}
        {use.ok === false && use.declined && <Ban {...icon} />}
        <span className="min-w-0 flex-1 truncate" title={use.name}>
          {toolName(use.name, language)}
        </span>
        {use.ms !== undefined && <span className="text-ink-3">{use.ms} ms</span>}
      </summary>
      {use.declined && <p>{t('studio.tool.declined')}</p>}
      {use.needs_approval && <p>{t('studio.tool.unasked')}</p>}
      {known.length === 0 && <p className="text-ink-3">{t('studio.tool.unknown')}</p>}
      {known.map(([name, text = '']) => (
        <div key={name}>
          <p className="text-mini text-ink-3">{t(name)}</p>
          <pre className="code">{readable(text)}</pre>
        </div>
      ))}
    </details>
  )
}
