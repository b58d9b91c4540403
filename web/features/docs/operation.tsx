import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Example } from './example.tsx'
import type { Body, Operation } from './openapi.ts'
import { useSay } from './say.ts'
import { ParameterTable, SchemaTable } from './schema-table.tsx'
import { streamOf } from './streams.ts'
import { TryIt } from './try-it.tsx'

const TONES: Readonly<Record<string, string>> = {
  GET: 'text-accent',
  POST: 'text-good',
  PUT: 'text-warn',
  DELETE: 'text-bad',
}

interface OperationProps {
  readonly operation: Operation
  readonly apiKey: string
}

/** One operation of the reference; its details are rendered when it is opened. */
export function OperationCard({ operation, apiKey }: OperationProps) {
  const [open, setOpen] = useState(false)
  const say = useSay()
  const { method, path, summary } = operation
  return (
    <details className="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex cursor-pointer list-none items-center gap-3 px-4 py-3">
        <ChevronRight
          size={16}
          className="flex-none text-ink-3 transition-transform group-open:rotate-90"
          aria-hidden
        />
        <code className={`w-14 flex-none font-semibold ${TONES[method] ?? ''}`}>{method}</code>
        <code className="min-w-0 break-words">{path}</code>
        <span className="ml-auto hidden truncate pl-4 text-note text-ink-2 sm:block">
          {say(summary)}
        </span>
      </summary>
      {open && <Details operation={operation} apiKey={apiKey} />}
    </details>
  )
}

function Details({ operation, apiKey }: OperationProps) {
  const { t } = useI18n()
  const [trying, setTrying] = useState(false)
  const say = useSay()
  const { path, summary, body, responses, description, parameters } = operation
  const stream = streamOf(path)
  return (
    <div className="grid grid-cols-1 gap-6 border-t border-line px-4 py-5 sm:px-11">
      <p className="max-w-3xl text-ink-2">
        <span className="sm:sr-only">{say(summary)} </span>
        {say(description)}
      </p>
      {parameters.length > 0 && (
        <section>
          <h3 className="mb-1 font-medium">{t('docs.parameters')}</h3>
          <ParameterTable parameters={parameters} />
        </section>
      )}
      {body && (
        <section>
          <h3 className="mb-1 font-medium">{t('docs.request')}</h3>
          <BodyTable body={body} />
        </section>
      )}
      {responses.map((answer) => (
        <section key={answer.status}>
          <h3 className="mb-1 font-medium">
            {t('docs.answer')} {answer.status}
            {answer.description && (
              <span className="ml-2 font-normal text-ink-2">{say(answer.description)}</span>
            )}
          </h3>
          {answer.bodies.map((one) => (
            <BodyTable key={one.mediaType} body={one} />
          ))}
        </section>
      ))}
      {stream && (
        <section>
          <h3 className="mb-2 font-medium">{t('docs.stream')}</h3>
          <pre className="code">{stream}</pre>
        </section>
      )}
      <Example operation={operation} />
      <section>
        {trying ? (
          <TryIt operation={operation} apiKey={apiKey} />
        ) : (
          <Button onClick={() => setTrying(true)}>{t('docs.try')}</Button>
        )}
      </section>
    </div>
  )
}

/** A request or an answer: its media type and its fields. */
const BodyTable = ({ body: { mediaType, schema } }: { readonly body: Body }) => (
  <div className="py-1">
    <code className="block text-small text-ink-3">{mediaType}</code>
    {isText(schema) || <SchemaTable schema={schema} />}
  </div>
)

/** Text and bytes are described by the media type alone. */
const isText = ({ type }: Body['schema']) => type === 'string'
