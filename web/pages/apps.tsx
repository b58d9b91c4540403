import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bot, Plus } from 'lucide-react'
import { APPS_MAX } from '../../src/core/limits/contract.ts'
import { api } from '../api/index.ts'
import type { App } from '../api/types.ts'
import { faceOf } from '../features/apps/face.ts'
import { useI18n } from '../i18n/index.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Ago, Badge, Notice, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

export function Apps() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const count = query.data?.apps.length ?? 0
  const full = count >= APPS_MAX
  const add = full ? null : (
    <Link to="/app/apps/$id" params={{ id: 'new' }} className="btn" data-kind="primary">
      <Plus size={16} aria-hidden />
      {t('apps.new')}
    </Link>
  )
  return (
    <Page
      title={t('nav.apps')}
      about={t('apps.about')}
      actions={count > 0 && <ForEditors>{add}</ForEditors>}
    >
      {full && (
        <div className="mb-4">
          <Notice tone="warn">{t('apps.full', { max: APPS_MAX })}</Notice>
        </div>
      )}
      <Loaded query={query}>
        {({ apps }) =>
          apps.length === 0 ? (
            <div className="card">
              <Empty
                icon={<Bot />}
                title={t('apps.empty')}
                text={t('apps.empty.text')}
                action={<ForEditors>{add}</ForEditors>}
              />
            </div>
          ) : (
            <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2">
              {apps.map((app) => (
                <AppCard key={app.id} app={app} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}

function AppCard({ app }: { readonly app: App }) {
  const { t } = useI18n()
  const personas = useQuery({ queryKey: ['personas'], queryFn: api.personas.list })
  const persona = personas.data?.personas.find(({ id }) => id === app.persona_id)
  const prompt = app.system_prompt ?? persona?.prompt ?? t('apps.prompt.inherited')
  const { icon, description } = faceOf(app)
  return (
    <li>
      <Link
        to="/app/apps/$id"
        params={{ id: app.id }}
        className="card block h-full p-5 transition-colors hover:border-ink-3"
      >
        <div className="flex items-start justify-between gap-3">
          <h2 className="truncate">
            {icon !== null && <span aria-hidden>{icon} </span>}
            {app.name}
          </h2>
          <span className="text-small text-ink-3">
            <Ago at={app.created_at} />
          </span>
        </div>
        <p className="mt-1.5 line-clamp-2 min-h-[3.2em] text-note text-ink-2">
          {description || prompt}
        </p>
        <div className="mt-3 flex flex-wrap gap-1.5">
          {app.model && <Badge>{app.model}</Badge>}
          {persona && <Badge tone="accent">{persona.name}</Badge>}
          <Badge>{t(app.kb_enabled ? 'apps.kb.on' : 'apps.kb.off')}</Badge>
          <Badge>
            {app.tools_enabled === null
              ? t('apps.tools.all')
              : t('apps.tools.count', { count: app.tools_enabled.length })}
          </Badge>
        </div>
      </Link>
    </li>
  )
}
