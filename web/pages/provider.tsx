import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, Lock, TriangleAlert, Unplug, Zap } from 'lucide-react'
import { useState } from 'react'
import { PROVIDER_KEY_CHARS_MAX, PROVIDER_URL_CHARS_MAX } from '../../src/core/limits/contract.ts'
import { ApiError } from '../api/client.ts'
import { api } from '../api/index.ts'
import type { Provider } from '../api/types.ts'
import { useI18n } from '../i18n/index.tsx'
import { useOperator } from '../lib/rights.ts'
import { useAction, useProblem } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { Changeable } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { SwitchField, TextField } from '../ui/form.tsx'
import { Form } from '../ui/form-end.tsx'
import { Badge, Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const UNCONFIGURED = 503

export function ProviderPage() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['provider'], queryFn: api.provider.read, retry: false })
  const off = query.error instanceof ApiError && query.error.status === UNCONFIGURED
  return (
    <Page title={t('nav.provider')} about={t('provider.about')}>
      {off ? (
        <div className="card">
          <Empty icon={<Lock />} title={t('provider.off')} text={t('provider.off.text')} />
        </div>
      ) : (
        <Loaded query={query}>
          {(provider) => (
            <div className="grid max-w-2xl gap-6">
              <Changeable>
                {provider.configured && <Current provider={provider} />}
                <ProviderForm key={provider.base_url ?? ''} provider={provider} />
              </Changeable>
            </div>
          )}
        </Loaded>
      )}
    </Page>
  )
}

function Current({ provider }: { readonly provider: Provider }) {
  const { t } = useI18n()
  const [asked, setAsked] = useState(false)
  const test = useAction(() => api.provider.test())
  const remove = useAction(() => api.provider.remove(), {
    done: 'provider.removed',
    refresh: ['provider', 'models'],
    onDone: () => setAsked(false),
  })
  return (
    <div className="card p-6">
      <div className="flex flex-wrap items-start justify-between gap-4">
        <div className="min-w-0">
          <p className="truncate font-medium">{provider.base_url}</p>
          <p className="mt-1 flex flex-wrap gap-1.5">
            <Badge>
              {provider.key_tail === null
                ? t('provider.key.unreadable')
                : `•••• ${provider.key_tail}`}
            </Badge>
            <Badge tone={provider.failover ? 'accent' : undefined}>
              {t(provider.failover ? 'provider.failover.on' : 'provider.failover.off')}
            </Badge>
          </p>
        </div>
        <div className="flex gap-2">
          <Button
            icon={<Zap size={16} aria-hidden />}
            busy={test.isPending}
            onClick={() => test.mutate(undefined)}
          >
            {t('provider.test')}
          </Button>
          <Button
            kind="danger"
            icon={<Unplug size={16} aria-hidden />}
            aria-label={t('provider.remove')}
            onClick={() => setAsked(true)}
          />
        </div>
      </div>
      <div aria-live="polite">
        {test.data && (
          <div className="mt-4">
            <Notice
              tone={test.data.ok ? 'good' : 'bad'}
              icon={test.data.ok ? <CircleCheck size={16} /> : <TriangleAlert size={16} />}
            >
              {test.data.ok
                ? t('provider.test.ok', { ms: test.data.latency_ms })
                : t('provider.test.failed', {
                    ms: test.data.latency_ms,
                    error: test.data.error ?? '',
                  })}
            </Notice>
          </div>
        )}
      </div>
      <Confirm
        title={t('provider.remove')}
        loss={t('provider.remove.loss')}
        action={t('provider.remove')}
        open={asked}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined)}
        onClose={() => setAsked(false)}
      />
    </div>
  )
}

const isInternalHost = (error: Error | null) =>
  error instanceof ApiError && error.error?.code === 'base_url_internal'

/** A link for operators to the setting that allows the host. */
function ToPrivateHosts() {
  const { t } = useI18n()
  if (!useOperator()) return null
  return (
    <Link to="/app/system/models" className="text-accent underline underline-offset-2">
      {t('nav.server.models')}
    </Link>
  )
}

function ProviderForm({ provider }: { readonly provider: Provider }) {
  const { t } = useI18n()
  const [url, setUrl] = useState(provider.base_url ?? '')
  const [key, setKey] = useState('')
  const [failover, setFailover] = useState(provider.failover || !provider.configured)
  const address = useProblem('base_url')
  const save = useAction(api.provider.save, {
    shows: address.shows,
    done: 'provider.saved',
    refresh: ['provider', 'models'],
    onDone: () => setKey(''),
  })
  const problem = address.of(save.error)
  const isInternal = problem !== null && isInternalHost(save.error)
  return (
    <Form
      className="card grid gap-5 p-6"
      isWhole={url.trim() !== '' && key.trim() !== ''}
      onSend={() => save.mutate({ base_url: url.trim(), api_key: key.trim(), failover })}
    >
      <h2>{t(provider.configured ? 'provider.replace' : 'provider.connect')}</h2>
      <TextField
        label={t('provider.url')}
        aside={isInternal && <ToPrivateHosts />}
        hint={t('provider.url.hint')}
        problem={isInternal ? t('provider.url.internal') : problem}
        type="url"
        required
        placeholder="https://api.example.com/v1"
        value={url}
        maxLength={PROVIDER_URL_CHARS_MAX}
        onText={setUrl}
      />
      <TextField
        label={t('provider.key')}
        hint={t('provider.key.hint')}
        type="password"
        required
        autoComplete="off"
        value={key}
        maxLength={PROVIDER_KEY_CHARS_MAX}
        onText={setKey}
      />
      <SwitchField
        label={t('provider.failover')}
        hint={t('provider.failover.hint')}
        on={failover}
        onChange={setFailover}
      />
      <div className="flex justify-end">
        <Button type="submit" kind="primary" busy={save.isPending}>
          {t('action.save')}
        </Button>
      </div>
    </Form>
  )
}
