import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpCallResponse, McpDefinition, McpServer, McpTool } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SwitchField } from '../../ui/form.tsx'
import { Badge, Notice } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'
import { Argument, Lines } from './argument.tsx'
import { argumentsOf, fieldsOf, objectIn, type Problem } from './arguments.ts'
import { useDefinition } from './tool-changes.tsx'

interface ToolTryProps {
  readonly server: McpServer
  readonly tool: McpTool
  readonly onClose: () => void
}

/** Calls a tool with arguments that a person gives, approved or not. */
export function ToolTry({ server, tool, onClose }: ToolTryProps) {
  const { t } = useI18n()
  const query = useDefinition(server, tool)
  return (
    <Dialog wide title={t('tools.try.title', { name: tool.name })} open onClose={onClose}>
      {!tool.read_only && <Notice tone="warn">{t('tools.try.caution')}</Notice>}
      <Loaded query={query}>
        {(definition) => <TryForm key={definition.hash} server={server} definition={definition} />}
      </Loaded>
    </Dialog>
  )
}

interface TryFormProps {
  readonly server: McpServer
  readonly definition: McpDefinition
}

function TryForm({ server, definition }: TryFormProps) {
  const { t } = useI18n()
  const fields = fieldsOf(definition.schema ?? {})
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const [raw, setRaw] = useState<string | null>(null)
  const [problems, setProblems] = useState<Readonly<Record<string, Problem>>>({})
  const call = useAction((args: Record<string, unknown>) =>
    mcpServers.call(server.id, definition.name, args),
  )
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const whole = raw === null ? null : objectIn(raw)
    const read = raw === null ? argumentsOf(fields, typed) : null
    const wrong = read?.problems ?? (whole ? {} : { '': 'object' as const })
    setProblems(wrong)
    if (Object.keys(wrong).length === 0) call.mutate(whole ?? read?.args ?? {})
  }
  return (
    <form className="mt-4 grid gap-4" onSubmit={submit}>
      {raw === null && fields.length === 0 && (
        <p className="text-ink-2">{t('tools.try.nothing')}</p>
      )}
      {raw === null ? (
        fields.map((field) => (
          <Argument
            key={field.name}
            field={field}
            problem={problems[field.name]}
            value={typed[field.name] ?? field.initial}
            onText={(text) => setTyped({ ...typed, [field.name]: text })}
          />
        ))
      ) : (
        <Lines
          label={t('tools.try.raw.label')}
          problem={problems[''] && t(`tools.try.problem.${problems['']}`)}
          value={raw}
          rows={8}
          onText={setRaw}
        />
      )}
      <SwitchField
        label={t('tools.try.raw')}
        on={raw !== null}
        onChange={(on) => {
          setProblems({})
          setRaw(on ? JSON.stringify(argumentsOf(fields, typed).args, null, 2) : null)
        }}
      />
      <div className="flex justify-end">
        <Button
          type="submit"
          kind="primary"
          icon={<Play size={15} aria-hidden />}
          busy={call.isPending}
        >
          {t('tools.try.call')}
        </Button>
      </div>
      <div aria-live="polite">{call.data && !call.isPending && <Answer answer={call.data} />}</div>
    </form>
  )
}

/** Characters of a result that are shown; models get up to 16,000. */
const SHOWN_CHARS = 4_000

function Answer({ answer: { ok, ms, text, error_class } }: { readonly answer: McpCallResponse }) {
  const { t, locale } = useI18n()
  const shown = text.slice(0, SHOWN_CHARS)
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-3">
        <Badge tone={ok ? 'good' : 'bad'}>{t(ok ? 'tools.try.ok' : 'tools.try.failed')}</Badge>
        <span className="text-note text-ink-2">
          {t('tools.try.took', { ms: ms.toLocaleString(locale) })}
        </span>
      </div>
      {error_class !== null && (
        <p className="text-note text-bad">{t(`tools.try.fault.${error_class}`)}</p>
      )}
      {error_class === null && <pre className="code">{shown || t('tools.try.empty')}</pre>}
      {text.length > SHOWN_CHARS && (
        <p className="text-small text-ink-3">
          {t('tools.try.cut', {
            ...{ shown: SHOWN_CHARS.toLocaleString(locale) },
            ...{ chars: text.length.toLocaleString(locale) },
          })}
        </p>
      )}
    </div>
  )
}
