import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import { GUIDE_IDS, guidePath } from '../../guides/pages.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useMayChange, useOperator, useOwns } from '../../lib/rights.ts'
import { setTheme } from '../../lib/theme.ts'
import { ask, SHORTCUTS_ASKED } from '../../shell/keys.ts'
import { doorOf, NAV_ITEMS, SERVER_ITEMS } from '../../shell/nav.ts'
import { useLogout } from '../login/use-logout.ts'
import type { Entry, Group } from './match.ts'

const THEMES = ['light', 'dark', 'system'] as const

/** The entries of the palette that need no search on the server. */
export function useEntries(): Group[] {
  const { t } = useI18n()
  const apps = useApps()
  const actions = useActions()
  const goTo = useNavigate()
  const places = useOperator() ? [...NAV_ITEMS, ...SERVER_ITEMS] : NAV_ITEMS
  const labels = places.map(({ label }) => t(label))
  const pages = places.map(({ to, label }) => {
    const said = t(label)
    // Pages of one name are told apart by their doors.
    const isTwice = labels.indexOf(said) !== labels.lastIndexOf(said)
    const whole = isTwice ? `${t(`nav.${doorOf(to)}`)} · ${said}` : said
    return { id: to, label: whole, also: to, run: () => void goTo({ to }) }
  })
  const manualPage = (to: string, label: string): Entry => ({
    ...{ id: to, label, also: to },
    run: () => void goTo({ to }),
  })
  const manual = GUIDE_IDS.map((id) => manualPage(guidePath(id), t(`guide.${id}`)))
  const reference = manualPage('/docs/reference', t('docs.title'))
  return [
    { name: t('palette.pages'), entries: pages },
    { name: t('palette.actions'), entries: actions },
    { name: t('nav.apps'), entries: apps },
    { name: t('docs.pages'), entries: [...manual, reference] },
  ]
}

/** The tenant's apps by name. */
function useApps(): Entry[] {
  const goTo = useNavigate()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list }).data?.apps ?? []
  return apps.map(({ id, name }) => ({
    ...{ id, label: name },
    run: () => void goTo({ to: '/app/apps/$id', params: { id } }),
  }))
}

/** What the person may do, without a page of its own. */
function useActions(): Entry[] {
  const { t, language, setLanguage } = useI18n()
  const goTo = useNavigate()
  const logout = useLogout()
  const mayChange = useMayChange()
  const isOwner = useOwns()
  const action = (id: string, label: string, run: () => void): Entry => ({ id, label, run })
  const to = (id: string, label: Key, path: string, search = {}) =>
    action(id, t(label), () => void goTo({ to: path, search }))
  return [
    to('studio', 'studio.new', '/app'),
    ...(mayChange ? [to('app', 'apps.new', '/app/apps/new')] : []),
    ...(isOwner ? [to('key', 'keys.new', '/app/keys', { new: true })] : []),
    ...(mayChange ? [to('device', 'devices.new', '/app/devices', { new: true })] : []),
    ...(mayChange ? [to('document', 'kb.add', '/app/kb')] : []),
    ...THEMES.map((theme) =>
      action(
        theme,
        t('system.summary', { name: t('theme.label'), value: t(`theme.${theme}`) }),
        () => setTheme(theme),
      ),
    ),
    action('language', language === 'zh' ? 'English' : '中文', () =>
      setLanguage(language === 'zh' ? 'en' : 'zh'),
    ),
    action('shortcuts', t('shortcuts.title'), () => ask(SHORTCUTS_ASKED)),
    action('status', t('status.page'), () => void window.open('/status', '_blank')),
    action('logout', t('user.logout'), () => logout.mutate(false)),
  ]
}
