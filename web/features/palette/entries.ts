import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import { GUIDE_IDS, guidePath } from '../../guides/pages.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useOperator } from '../../lib/rights.ts'
import { useAction } from '../../lib/services.tsx'
import { setTheme } from '../../lib/theme.ts'
import { ask, SHORTCUTS_ASKED } from '../../shell/keys.ts'
import { doorOf, NAV_ITEMS, SERVER_ITEMS } from '../../shell/nav.ts'
import type { Entry, Group } from './match.ts'

const THEMES = ['light', 'dark', 'system'] as const

/** The entries of the palette that need no search on the server. */
export function useEntries(): Group[] {
  const { t } = useI18n()
  const named = useNamed()
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
  const manual = [...GUIDE_IDS.map((id) => [guidePath(id), t(`guide.${id}`)] as const)].map(
    ([to, label]) => ({ id: to, label, also: to, run: () => void goTo({ to }) }),
  )
  const reference = '/docs/reference'
  const last = { id: reference, label: t('docs.title'), run: () => void goTo({ to: reference }) }
  return [
    { name: t('palette.pages'), entries: pages },
    { name: t('palette.actions'), entries: actions },
    ...named,
    { name: t('docs.pages'), entries: [...manual, { ...last, also: reference }] },
  ]
}

/** The tenant's apps, devices and so on, by name. */
function useNamed(): Group[] {
  const { t } = useI18n()
  const goTo = useNavigate()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const open = (to: string) => () => void goTo({ to })
  const entry = (id: string, label: string, to: string): Entry => ({ id, label, run: open(to) })
  return [
    {
      name: t('nav.apps'),
      entries: apps.data?.apps.map(({ id, name }) => entry(id, name, `/app/apps/${id}`)) ?? [],
    },
  ]
}

function useActions(): Entry[] {
  const { t, language, setLanguage } = useI18n()
  const goTo = useNavigate()
  const client = useQueryClient()
  const logout = useAction(api.auth.logout, {
    onDone: () => {
      client.clear()
      void goTo({ to: '/login' })
    },
  })
  const action = (id: string, label: string, run: () => void): Entry => ({ id, label, run })
  return [
    action('studio', t('studio.new'), () => void goTo({ to: '/app', search: {} })),
    action('app', t('apps.new'), () => void goTo({ to: '/app/apps/new' })),
    action('key', t('keys.new'), () => void goTo({ to: '/app/keys', search: { new: true } })),
    action(
      'device',
      t('devices.new'),
      () => void goTo({ to: '/app/devices', search: { new: true } }),
    ),
    action('document', t('kb.add'), () => void goTo({ to: '/app/kb' })),
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
