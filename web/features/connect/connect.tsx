import { Link } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { CopyButton } from '../../ui/button.tsx'
import { Notice, Section } from '../../ui/page.tsx'
import { Snippet } from '../../ui/snippet.tsx'
import { tabKeys } from '../../ui/tab-keys.ts'
import {
  addressFor,
  CLIENT_NAMES,
  CLIENTS,
  type Client,
  type Connection,
  codeFor,
} from './clients.ts'
import { TryChat } from './try-chat.tsx'

/** One row, however many: it scrolls on a phone. */
const CHOICE =
  'segmented max-w-full justify-self-start overflow-x-auto whitespace-nowrap *:flex-none'

const PLACEHOLDER = '<API_KEY>'

interface ConnectProps {
  readonly model: string
  /** A key that was issued on this page; null shows a placeholder. */
  readonly issued: string | null
}

/** How programs call this assistant: code to copy for several clients, and a test. */
export function Connect({ model, issued }: ConnectProps) {
  const { t } = useI18n()
  const id = useId()
  const [client, setClient] = useState<Client>('typescript')
  const key = issued ?? PLACEHOLDER
  const connection = { baseUrl: `${location.origin}/v1`, key, model }
  const code = codeFor(client, connection, t('curl.text'))
  return (
    <Section title={t('connect.title')} about={t(issued ? 'connect.issued' : 'connect.about')}>
      <div className="card grid gap-5 p-5">
        <Facts connection={{ ...connection, baseUrl: addressFor(client, connection) }} />
        <div className="grid gap-3">
          <div role="tablist" className={CHOICE} aria-label={t('connect.client')}>
            {CLIENTS.map((name) => (
              <button
                key={name}
                type="button"
                role="tab"
                id={`${id}-${name}`}
                aria-controls={`${id}-panel`}
                aria-selected={client === name}
                tabIndex={client === name ? 0 : -1}
                data-state={client === name ? 'active' : undefined}
                onClick={() => setClient(name)}
                onKeyDown={tabKeys(CLIENTS, client, setClient)}
              >
                {CLIENT_NAMES[name]}
              </button>
            ))}
          </div>
          <div
            role="tabpanel"
            id={`${id}-panel`}
            aria-labelledby={`${id}-${client}`}
            className="grid gap-3"
          >
            {code === null ? (
              <Steps client={client} />
            ) : (
              <Snippet text={code} name={CLIENT_NAMES[client]} />
            )}
            <p className="text-note">
              <Link
                to="/docs/$page"
                params={{ page: client }}
                className="text-accent underline underline-offset-2"
              >
                {t('connect.manual')}
              </Link>
            </p>
          </div>
        </div>
        <TryChat model={model} issued={issued} />
      </div>
    </Section>
  )
}

/** The three values that every client asks for. */
function Facts({ connection: { baseUrl, key, model } }: { readonly connection: Connection }) {
  const { t } = useI18n()
  const facts = [
    ['connect.base', baseUrl],
    ['connect.key', key],
    ['connect.model', model],
  ] as const
  return (
    <dl className="grid gap-x-6 gap-y-1 sm:grid-cols-[auto_1fr]">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-note text-ink-3 sm:py-1">{t(name)}</dt>
          <dd className="flex min-w-0 items-center gap-1">
            <code className="min-w-0 break-all">{value}</code>
            {value !== PLACEHOLDER && <CopyButton text={value} size="small" what={t(name)} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const STEPS: Partial<Record<Client, 'connect.openwebui' | 'connect.ollama'>> = {
  openwebui: 'connect.openwebui',
  ollama: 'connect.ollama',
}

/** Where the three values go in a program that is set up in a form. */
function Steps({ client }: { readonly client: Client }) {
  const { t } = useI18n()
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
  return (
    <div className="grid gap-3">
      <p>{t(STEPS[client] ?? 'connect.homeassistant')}</p>
      {isLocal && <Notice tone="warn">{t('connect.local')}</Notice>}
    </div>
  )
}
