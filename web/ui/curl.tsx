import { useI18n } from '../i18n/index.tsx'
import { Snippet } from './snippet.tsx'

/** A text as one word of a shell. */
export const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The curl command of the page's last call. */
const curlOf = (body: unknown, key = '<API_KEY>'): string =>
  [
    `curl -N ${location.origin}/v1/agent`,
    `  -H 'Authorization: Bearer ${key}'`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${shellQuoted(JSON.stringify(body))}`,
  ].join(' \\\n')

interface ExampleProps {
  readonly body: unknown
  /** A key in plain text; without it a placeholder is shown. */
  readonly apiKey?: string
}

export function CurlExample({ body, apiKey }: ExampleProps) {
  const { t } = useI18n()
  const command = curlOf(body, apiKey)
  return <Snippet text={command} name="curl" what={t('docs.example')} />
}
