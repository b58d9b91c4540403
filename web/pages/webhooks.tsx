import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, Webhook as WebhookIcon } from 'lucide-react'
import { useState } from 'react'
import { type Webhook, webhooks } from '../api/webhooks.ts'
import { Deliveries } from '../features/webhooks/deliveries.tsx'
import { TriggerList } from '../features/webhooks/trigger-list.tsx'
import { WebhookDialog } from '../features/webhooks/webhook-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction, useToasts } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Ago, Badge, Page } from '../ui/page.tsx'
import { SecretDialog } from '../ui/secret.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

type What = 'edit' | 'delete' | 'rotate' | 'deliveries'
type Asked = { readonly what: What; readonly webhook: Webhook | null }

/** What is shown once. */
interface Secret {
  readonly title: 'hooks.secret' | 'triggers.secret'
  readonly text: string
}

/** Addresses that are told of changes, and addresses that begin runs. */
export function Webhooks() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [secret, setSecret] = useState<Secret | null>(null)
  const show = (title: Secret['title']) => (text: string) => setSecret({ title, text })
  const query = useQuery({ queryKey: ['webhooks'], queryFn: webhooks.list })
  const close = () => setAsked(null)
  const webhook = asked?.webhook ?? null
  const changed = { refresh: ['webhooks'], onDone: close, onGone: close } as const
  const remove = useAction(webhooks.remove, { done: 'hooks.deleted', ...changed })
  const rotate = useAction(
    async (id: string) => show('hooks.secret')((await webhooks.rotate(id)).secret),
    {
      ...changed,
    },
  )
  return (
    <Page title={t('nav.webhooks')} about={t('hooks.about')} actions={<Actions onAsk={setAsked} />}>
      <Loaded query={query}>
        {(list) => (
          <ul className="card divide-y divide-line">
            {list.length === 0 && (
              <li>
                <Empty icon={<WebhookIcon />} title={t('hooks.none')} text={t('hooks.none.text')} />
              </li>
            )}
            {list.map((one) => (
              <Row key={one.id} webhook={one} onAsk={(what) => setAsked({ what, webhook: one })} />
            ))}
          </ul>
        )}
      </Loaded>
      <TriggerList onSecret={show('triggers.secret')} />
      <WebhookDialog
        webhook={webhook}
        open={asked?.what === 'edit'}
        onClose={close}
        onSecret={show('hooks.secret')}
      />
      <Deliveries webhook={asked?.what === 'deliveries' ? webhook : null} onClose={close} />
      <Confirm
        title={t('hooks.delete.title', { name: webhook?.name ?? '' })}
        loss={t('hooks.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => webhook && remove.mutate(webhook.id)}
        onClose={close}
      />
      <Confirm
        title={t('hooks.rotate.title', { name: webhook?.name ?? '' })}
        loss={t('hooks.rotate.loss')}
        action={t('hooks.rotate')}
        open={asked?.what === 'rotate'}
        busy={rotate.isPending}
        onConfirm={() => webhook && rotate.mutate(webhook.id)}
        onClose={close}
      />
      <SecretDialog
        title={t(secret?.title ?? 'hooks.secret')}
        secret={secret?.text ?? null}
        onClose={() => setSecret(null)}
      />
    </Page>
  )
}

function Actions({ onAsk }: { readonly onAsk: (asked: Asked) => void }) {
  const { t } = useI18n()
  return (
    <>
      <Link to="/docs/$page" params={{ page: 'webhooks' }} className="btn">
        {t('hooks.recipes')}
      </Link>
      <ForEditors>
        <Button
          kind="primary"
          icon={<Plus size={16} aria-hidden />}
          onClick={() => onAsk({ what: 'edit', webhook: null })}
        >
          {t('hooks.new')}
        </Button>
      </ForEditors>
    </>
  )
}

const isGood = (status: number) => status >= 200 && status < 300

/** What became of the last delivery. */
function LastAnswer({ status }: { readonly status: number | null }) {
  const { t } = useI18n()
  if (status === null) return t('hooks.last.none')
  return isGood(status) ? t('hooks.last.ok') : t('hooks.last.status', { status })
}

interface RowProps {
  readonly webhook: Webhook
  readonly onAsk: (what: What) => void
}

function Row({ webhook, onAsk }: RowProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const { id, name, url, enabled, last_status, last_at, failures } = webhook
  const tried = useAction(() => webhooks.test(id), {
    onDone: ({ ok, status, error_class }) =>
      toasts.show(
        ok ? 'good' : 'bad',
        ok
          ? t('hooks.test.ok')
          : t('hooks.test.bad', {
              why: error_class ? t(`hooks.fault.${error_class}`, { status: status ?? '' }) : '',
            }),
      ),
  })
  const act = (what: What, label: string) => (
    <Button
      size="small"
      aria-label={t('system.summary', { name: label, value: name })}
      onClick={() => onAsk(what)}
    >
      {label}
    </Button>
  )
  return (
    <li className="flex flex-wrap items-center gap-3 px-5 py-3">
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <h2 className="text-base break-words">{name}</h2>
        <p className="text-note break-all text-ink-2">{url}</p>
      </div>
      {!enabled && <Badge tone="warn">{t('hooks.off')}</Badge>}
      {failures > 0 && <Badge tone="bad">{t('hooks.failures', { count: failures })}</Badge>}
      {last_at && (
        <span className="text-note text-ink-2">
          <LastAnswer status={last_status} /> · <Ago at={last_at} />
        </span>
      )}
      {act('deliveries', t('hooks.deliveries'))}
      <ForEditors>
        <Button
          size="small"
          busy={tried.isPending}
          aria-label={t('system.summary', { name: t('hooks.test'), value: name })}
          onClick={() => tried.mutate(undefined)}
        >
          {t('hooks.test')}
        </Button>
        {act('rotate', t('hooks.rotate'))}
        {act('edit', t('action.edit'))}
        {act('delete', t('action.delete'))}
      </ForEditors>
    </li>
  )
}
