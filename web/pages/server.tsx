import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { api } from '../api/index.ts'
import type { LastTest, SystemSetting } from '../api/types.ts'
import { Backups } from '../features/system/backups.tsx'
import { FirstModel } from '../features/system/first-run.tsx'
import { MailSection } from '../features/system/mail.tsx'
import { Overview } from '../features/system/overview.tsx'
import { type SectionId, sectionOf } from '../features/system/parts.ts'
import { People, usePeople } from '../features/system/people.tsx'
import { Providers } from '../features/system/providers.tsx'
import { Reach } from '../features/system/reach.tsx'
import { SystemSectionForm } from '../features/system/section.tsx'
import { SignUp } from '../features/system/sign-up.tsx'
import { Tenants, useTenants } from '../features/system/tenants.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useOperator } from '../lib/rights.ts'
import { Page, Section } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

const FORBIDDEN = 403

interface ServerPageProps {
  readonly title: string
  readonly about: string
  readonly children: (settings: readonly SystemSetting[], tests: readonly LastTest[]) => ReactNode
}

/** A page for the people who run the server; everybody else is told so. */
function ServerPage({ title, about, children }: ServerPageProps) {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['system'], queryFn: api.system.read, retry: false })
  const refused = query.error instanceof ApiError && query.error.status === FORBIDDEN
  return (
    <Page title={title} about={about}>
      {refused ? (
        <div className="card">
          <Empty icon={<Lock />} title={t('system.refused')} text={t('system.refused.text')} />
        </div>
      ) : (
        <Loaded query={query}>
          {({ settings, tests }) => (
            <div className="grid max-w-3xl gap-3">{children(settings, tests)}</div>
          )}
        </Loaded>
      )}
    </Page>
  )
}

interface FormsProps {
  readonly ids: readonly SectionId[]
  readonly settings: readonly SystemSetting[]
  readonly tests: readonly LastTest[]
}

const Forms = ({ ids, settings, tests }: FormsProps) =>
  ids.map((id) => {
    const section = sectionOf(id)
    const own = settings.filter(({ name }) => section.names.includes(name))
    const last = tests.find(({ part }) => part === section.part)
    return <SystemSectionForm key={id} section={section} settings={own} last={last} />
  })

type PageName = 'overview' | 'models' | 'voice' | 'mail' | 'people' | 'limits'

interface NamedProps extends Pick<ServerPageProps, 'children'> {
  readonly name: PageName
}

function Named({ name, children }: NamedProps) {
  const { t } = useI18n()
  return (
    <ServerPage title={t(`nav.server.${name}`)} about={t(`server.${name}.about`)}>
      {children}
    </ServerPage>
  )
}

export const OverviewPage = () => (
  <Named name="overview">
    {(settings) => (
      <>
        <Overview />
        <Reach settings={settings} />
      </>
    )}
  </Named>
)

export const ModelsPage = () => (
  <Named name="models">
    {(settings, tests) => (
      <>
        <Providers settings={settings} />
        <Forms
          ids={['llm', 'embedding', 'rerank', 'search', 'hosts']}
          settings={settings}
          tests={tests}
        />
      </>
    )}
  </Named>
)

export const VoicePage = () => (
  <Named name="voice">
    {(settings, tests) => <Forms ids={['tts', 'asr']} settings={settings} tests={tests} />}
  </Named>
)

export const MailPage = () => (
  <Named name="mail">
    {(settings, tests) => (
      <>
        <SignUp settings={settings} />
        <MailSection settings={settings} />
        <Forms ids={['signin', 'address']} settings={settings} tests={tests} />
      </>
    )}
  </Named>
)

export const PeoplePage = () => {
  // Asked for beside the settings, not after them: the list is what the page is opened for.
  usePeople(useOperator())
  return <Named name="people">{() => <People />}</Named>
}

export const LimitsPage = () => {
  useTenants(useOperator())
  return (
    <Named name="limits">
      {(settings, tests) => (
        <>
          <Forms ids={['limits']} settings={settings} tests={tests} />
          <Backups settings={settings} />
          <Tenants />
        </>
      )}
    </Named>
  )
}

/** What the first person sees: where answers come from. */
export const Welcome = () => {
  const { t } = useI18n()
  const navigate = useNavigate()
  return (
    <ServerPage title={t('welcome.title')} about={t('welcome.about')}>
      {(settings) => (
        <>
          <Section title={t('welcome.here')}>
            <FirstModel onUsed={() => void navigate({ to: '/app' })} />
          </Section>
          <Providers settings={settings} />
          <Link to="/app" className="btn justify-self-start">
            {t('welcome.later')}
          </Link>
        </>
      )}
    </ServerPage>
  )
}
