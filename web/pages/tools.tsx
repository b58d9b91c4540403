import { Link } from '@tanstack/react-router'
import { BuiltIn } from '../features/tools/built-in.tsx'
import { ServerList } from '../features/tools/server-list.tsx'
import { SharedTools } from '../features/tools/shared-tools.tsx'
import { useI18n } from '../i18n/index.tsx'
import { Changeable } from '../ui/changeable.tsx'
import { Page } from '../ui/page.tsx'

export function Tools() {
  const { t } = useI18n()
  const manual = (
    <Link to="/docs/$page" params={{ page: 'mcp' }} className="btn">
      {t('tools.manual')}
    </Link>
  )
  return (
    <Page title={t('nav.tools')} about={t('tools.about')} actions={manual}>
      <ServerList />
      <Changeable>
        <SharedTools />
      </Changeable>
      <BuiltIn />
    </Page>
  )
}
