import * as Menu from '@radix-ui/react-dropdown-menu'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  Activity,
  BookOpen,
  Check,
  ChevronsUpDown,
  Keyboard,
  LogOut,
  MonitorOff,
  Settings2,
  UserRound,
} from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api } from '../api/index.ts'
import { useLogout } from '../features/login/use-logout.ts'
import { type Key, type Language, useI18n } from '../i18n/index.tsx'
import { setTheme, type Theme, useTheme } from '../lib/theme.ts'
import { Confirm } from '../ui/dialog.tsx'
import { ask, SHORTCUTS_ASKED } from './keys.ts'
import { ACCOUNT, WORKSPACE } from './nav.ts'

const THEMES: readonly (readonly [Theme, Key])[] = [
  ['system', 'theme.system'],
  ['light', 'theme.light'],
  ['dark', 'theme.dark'],
]
const LANGUAGES: readonly (readonly [Language, string, Language])[] = [
  ['zh', '中文', 'zh'],
  ['en', 'English', 'en'],
]

interface RadiosProps<T extends string> {
  readonly label: string
  readonly value: T
  readonly choices: readonly (readonly [choice: T, name: string, lang?: string])[]
  readonly onPick: (value: T) => void
}

function Radios<T extends string>({ label, value, choices, onPick }: RadiosProps<T>) {
  return (
    <>
      <Menu.Label className="menu-label">{label}</Menu.Label>
      <Menu.RadioGroup aria-label={label} value={value} onValueChange={(next) => onPick(next as T)}>
        {choices.map(([choice, name, lang]) => (
          <Menu.RadioItem key={choice} value={choice} lang={lang} className="menu-item">
            <span className="w-4">
              <Menu.ItemIndicator>
                <Check size={15} aria-hidden />
              </Menu.ItemIndicator>
            </span>
            {name}
          </Menu.RadioItem>
        ))}
      </Menu.RadioGroup>
    </>
  )
}

interface ItemProps {
  readonly icon: ReactNode
  readonly onPick: () => void
  readonly children: ReactNode
}

const Item = ({ icon, onPick, children }: ItemProps) => (
  <Menu.Item className="menu-item" onSelect={onPick}>
    {icon}
    {children}
  </Menu.Item>
)

/** The signed-in person, the appearance settings, and sign-out. */
export function UserMenu({ onGo }: { readonly onGo?: (() => void) | undefined }) {
  const { t, language, setLanguage } = useI18n()
  const theme = useTheme()
  const navigate = useNavigate()
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  const [asksAll, setAsksAll] = useState(false)
  const logout = useLogout()
  const email = me.data?.email ?? ''
  const size = { size: 16, 'aria-hidden': true } as const
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="nav-link w-full">
        <span
          className="grid size-7 flex-none place-items-center rounded-full bg-accent-soft"
          aria-hidden
        >
          <span className="text-mini font-semibold text-accent uppercase">{email[0]}</span>
        </span>
        <span className="min-w-0 flex-1 truncate text-left">{email}</span>
        <span className="sr-only">{t('user.menu')}</span>
        <ChevronsUpDown size={15} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" side="top" align="start" sideOffset={6}>
          <Radios
            label={t('theme.label')}
            value={theme}
            choices={THEMES.map(([value, key]) => [value, t(key)] as const)}
            onPick={setTheme}
          />
          <Radios
            label={t('language.label')}
            value={language}
            choices={LANGUAGES}
            onPick={setLanguage}
          />
          <Menu.Separator className="my-1.5 border-t border-line" />
          <Item
            icon={<UserRound {...size} />}
            onPick={() => {
              onGo?.()
              void navigate({ to: ACCOUNT })
            }}
          >
            {t('nav.account')}
          </Item>
          <Item
            icon={<Settings2 {...size} />}
            onPick={() => {
              onGo?.()
              void navigate({ to: WORKSPACE })
            }}
          >
            {t('nav.tenant')}
          </Item>
          <Item icon={<Keyboard {...size} />} onPick={() => ask(SHORTCUTS_ASKED)}>
            {t('shortcuts.title')}
          </Item>
          <Item icon={<BookOpen {...size} />} onPick={() => void navigate({ to: '/docs' })}>
            {t('docs.pages')}
          </Item>
          <Item icon={<Activity {...size} />} onPick={() => window.open('/status', '_blank')}>
            {t('status.page')}
          </Item>
          <Item icon={<LogOut {...size} />} onPick={() => logout.mutate(false)}>
            {t('user.logout')}
          </Item>
          <Item icon={<MonitorOff {...size} />} onPick={() => setAsksAll(true)}>
            {t('user.logout.all')}
          </Item>
        </Menu.Content>
      </Menu.Portal>
      <Confirm
        title={t('user.logout.all.title')}
        loss={t('user.logout.all.loss')}
        action={t('user.logout.all')}
        open={asksAll}
        busy={logout.isPending}
        onConfirm={() => logout.mutate(true)}
        onClose={() => setAsksAll(false)}
      />
    </Menu.Root>
  )
}
