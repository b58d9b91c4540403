import { Play } from 'lucide-react'
import { useState } from 'react'
import { type RawAnswer, tryRequest } from '../../api/try-request.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, TextField } from '../../ui/form.tsx'
import { Badge } from '../../ui/page.tsx'
import { example, JSON_TYPE, type Operation } from './openapi.ts'
import { useSay } from './say.ts'

interface TryItProps {
  readonly operation: Operation
  /** Empty for console routes, whose credential is the session cookie. */
  readonly apiKey: string
}

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

type Values = Readonly<Record<string, string>>

/** The headers that were filled in; values that are no ASCII are percent-encoded. */
const headersOf = ({ parameters }: Operation, values: Values): Values =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === 'header' && values[parameter.name])
      .map(({ name }) => [name, encodeURIComponent(values[name] ?? '')]),
  )

/** The address with its parameters filled in; empty query parameters are left out. */
function fill({ path, parameters }: Operation, values: Values): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  )
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && values[parameter.name])
    .map(({ name }) => [name, values[name] ?? ''])
  return query.length > 0 ? `${filled}?${new URLSearchParams(query)}` : filled
}

/** Sends the request from this page, against this server. */
export function TryIt({ operation, apiKey }: TryItProps) {
  const { t } = useI18n()
  const say = useSay()
  const { method, body, parameters } = operation
  const [values, setValues] = useState<Values>({})
  const [text, setText] = useState(() =>
    body ? JSON.stringify(example(body.schema), null, 2) : '',
  )
  const send = useAction(() =>
    tryRequest(
      method,
      fill(operation, values),
      {
        ...headersOf(operation, values),
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      body ? text : null,
    ),
  )
  if (body && body.mediaType !== JSON_TYPE) {
    return <p className="text-ink-2">{t('docs.raw', { type: body.mediaType })}</p>
  }
  return (
    <div className="grid gap-4">
      {parameters.length > 0 && (
        <div className="grid gap-4 sm:grid-cols-2">
          {parameters.map(({ name, required, description }) => (
            <TextField
              key={name}
              label={<code>{name}</code>}
              aside={required ? t('docs.required') : undefined}
              hint={description && say(description)}
              value={values[name] ?? ''}
              onText={(value) => setValues({ ...values, [name]: value })}
            />
          ))}
        </div>
      )}
      {body && (
        <Field label={t('docs.body')}>
          {(ids) => (
            <textarea
              {...ids}
              className="input font-mono text-small"
              rows={Math.min(14, text.split('\n').length + 1)}
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      )}
      <div>
        <Button
          kind="primary"
          icon={<Play size={15} aria-hidden />}
          busy={send.isPending}
          onClick={() => send.mutate(undefined)}
        >
          {t('docs.send')}
        </Button>
      </div>
      <div aria-live="polite">{send.data && <Answer answer={send.data} />}</div>
    </div>
  )
}

function Answer({ answer }: { readonly answer: RawAnswer }) {
  const { t } = useI18n()
  return (
    <div className="grid gap-2">
      <p className="flex flex-wrap items-center gap-2 text-small text-ink-2">
        <Badge tone={answer.status < 400 ? 'good' : 'bad'}>{answer.status}</Badge>
        {answer.type}
        <span className="text-ink-3">
          {answer.ms} {t('logs.ms')}
        </span>
      </p>
      <textarea
        className="code min-h-40 w-full whitespace-pre-wrap"
        aria-label={t('docs.answer')}
        rows={Math.min(20, pretty(answer.text).split('\n').length + 1)}
        readOnly
        value={pretty(answer.text)}
      />
    </div>
  )
}
