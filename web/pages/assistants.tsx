import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bot } from 'lucide-react'
import { api } from '../api/index.ts'
import { faceOf } from '../features/apps/face.ts'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

/** Whom one can talk to. */
export function Assistants() {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  return (
    <Page title={t('nav.assistants')} about={t('assistants.about')}>
      <Loaded query={query}>
        {({ apps }) => (
          <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            <Card id="" name={t('studio.app.none')} about={t('assistants.default')} icon={null} />
            {apps.map((app) => {
              const { icon, description } = faceOf(app)
              return (
                <Card key={app.id} id={app.id} name={app.name} about={description} icon={icon} />
              )
            })}
          </ul>
        )}
      </Loaded>
    </Page>
  )
}

interface CardProps {
  readonly id: string
  readonly name: string
  readonly about: string
  readonly icon: string | null
}

function Card({ id, name, about, icon }: CardProps) {
  return (
    <li>
      <Link
        to="/app"
        search={{ app: id, new: true }}
        className="card flex h-full items-start gap-3 p-5 transition-colors hover:border-ink-3"
      >
        <span className="flex-none text-[1.3rem] leading-none" aria-hidden>
          {icon ?? <Bot size={20} strokeWidth={1.75} className="mt-0.5 text-ink-3" />}
        </span>
        <span className="min-w-0">
          <span className="block truncate font-semibold">{name}</span>
          <span className="line-clamp-2 text-note text-ink-2">{about}</span>
        </span>
      </Link>
    </li>
  )
}
