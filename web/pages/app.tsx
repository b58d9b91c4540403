import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { SquareTerminal, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { api } from '../api/index.ts'
import type { App } from '../api/types.ts'
import { AppActivity } from '../features/apps/app-activity.tsx'
import { AppFeedback } from '../features/apps/app-feedback.tsx'
import { AppForm } from '../features/apps/app-form.tsx'
import { AppKeys } from '../features/apps/app-keys.tsx'
import { AppKnowledge } from '../features/apps/app-knowledge.tsx'
import { AppMemory } from '../features/apps/app-memory.tsx'
import { AppTabs } from '../features/apps/app-tabs.tsx'
import { AppVersions } from '../features/apps/app-versions.tsx'
import { TalkList } from '../features/sessions/talk-list.tsx'
import { AppShares } from '../features/shares/app-shares.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Gone } from '../ui/gone.tsx'
import { Notice, Page } from '../ui/page.tsx'
import { Loaded, Loading } from '../ui/state.tsx'

export function AppPage() {
  const { id = '' }: { id?: string } = useParams({ strict: false })
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const last = useRef<App | null>(null)
  if (id === 'new') {
    return (
      <Page title={t('apps.new')} about={t('apps.new.about')}>
        <AppForm app={null} />
      </Page>
    )
  }
  return (
    <Loaded query={query}>
      {({ apps }) => {
        const app = apps.find((item) => item.id === id)
        last.current = app ?? last.current
        const shown = app ?? (last.current?.id === id ? last.current : null)
        if (shown) return <Editor key={id} app={shown} isGone={!app} />
        // A new app is missing until the list has loaded.
        return query.isFetching ? (
          <Loading />
        ) : (
          <Gone title={t('gone.app')} list="/app/apps" label="nav.apps" />
        )
      }}
    </Loaded>
  )
}

interface EditorProps {
  readonly app: App
  /** Whether the app was deleted meanwhile: the typed values are kept and create a new app. */
  readonly isGone: boolean
}

function Editor({ app, isGone }: EditorProps) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const [asked, setAsked] = useState(false)
  const [restored, setRestored] = useState(0)
  const remove = useAction(api.apps.remove, {
    done: 'apps.deleted',
    refresh: ['apps', 'keys'],
    onGone: () => setAsked(false),
    onDone: () => void navigate({ to: '/app/apps' }),
  })
  const actions = (
    <>
      <Link to="/app" search={{ app: app.id }} className="btn">
        <SquareTerminal size={16} aria-hidden />
        {t('apps.try')}
      </Link>
      <ForEditors>
        <Button
          kind="danger"
          icon={<Trash2 size={16} aria-hidden />}
          aria-label={t('apps.delete')}
          onClick={() => setAsked(true)}
        />
      </ForEditors>
    </>
  )
  return (
    <Page title={app.name} about={t('apps.edit.about')} actions={!isGone && actions}>
      {isGone && !remove.isSuccess && (
        <div className="mb-5" role="alert">
          <Notice tone="warn">{t('apps.gone')}</Notice>
        </div>
      )}
      <AppTabs
        isBare={isGone}
        parts={{
          build: (
            <>
              <AppForm key={restored} app={app} isGone={isGone} />
              {!isGone && <AppVersions app={app} onRestored={() => setRestored(restored + 1)} />}
            </>
          ),
          knowledge: <AppKnowledge app={app} />,
          publish: (
            <>
              <AppShares app={app} />
              <AppKeys app={app} />
            </>
          ),
          activity: (
            <>
              <AppActivity app={app} />
              <AppFeedback app={app} />
              <TalkList of={{ app_id: app.id }} about={t('activity.talks.about')} />
              <AppMemory app={app} />
            </>
          ),
        }}
      />
      <Confirm
        title={t('apps.delete.title', { name: app.name })}
        loss={t('apps.delete.loss')}
        action={t('apps.delete')}
        open={asked}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(app.id)}
        onClose={() => setAsked(false)}
      />
    </Page>
  )
}
