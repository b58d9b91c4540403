import {
  Activity,
  AudioLines,
  BookText,
  Bot,
  Cpu,
  DatabaseBackup,
  Gauge,
  KeyRound,
  type LucideIcon,
  Mail,
  MessageCircle,
  Mic,
  Users,
  Wrench,
} from 'lucide-react'
import type { Key } from '../i18n/index.tsx'

export interface NavItem {
  readonly to: string
  readonly label: Key
  readonly icon: LucideIcon
}

/** A page that shares its entry in the side bar with others; tabs lead from one to the other. */
interface TabItem {
  readonly to: string
  readonly label: Key
}

/** What people come for: to talk, to build assistants, to run the server. */
export type Door = 'chat' | 'build' | 'server'

export const CHAT = '/app'
export const ASSISTANTS = '/app/assistants'

const item = (to: string, label: Key, icon: LucideIcon): NavItem => ({ to, label, icon })
const tab = (to: string, label: Key): TabItem => ({ to, label })

const CHAT_ITEM = item(CHAT, 'nav.chat', MessageCircle)
const ASSISTANTS_ITEM = item(ASSISTANTS, 'nav.assistants', Bot)

export const BUILD_ITEMS: readonly NavItem[] = [
  item('/app/apps', 'nav.apps', Bot),
  item('/app/kb', 'nav.kb', BookText),
  item('/app/tools', 'nav.tools', Wrench),
  item('/app/devices', 'nav.devices', Mic),
  item('/app/keys', 'nav.keys', KeyRound),
  item('/app/activity', 'nav.activity', Activity),
]

/** For operators only; the server refuses everybody else. */
export const SERVER_ITEMS: readonly NavItem[] = [
  item('/app/system', 'nav.server.overview', Gauge),
  item('/app/system/models', 'nav.server.models', Cpu),
  item('/app/system/voice', 'nav.server.voice', AudioLines),
  item('/app/system/mail', 'nav.server.mail', Mail),
  item('/app/system/people', 'nav.server.people', Users),
  item('/app/system/limits', 'nav.server.limits', DatabaseBackup),
]

const ACTIVITY: readonly TabItem[] = [
  tab('/app/activity', 'nav.home'),
  tab('/app/schedules', 'nav.schedules'),
  tab('/app/logs', 'nav.logs'),
  tab('/app/usage', 'nav.usage'),
]

export const ACCOUNT = '/app/account'
export const WORKSPACE = '/app/settings'
const WORKSPACE_TABS: readonly TabItem[] = [
  tab(WORKSPACE, 'nav.settings'),
  tab('/app/provider', 'nav.provider'),
  tab('/app/personas', 'nav.personas'),
  tab('/app/prompts', 'nav.prompts'),
  tab('/app/memory', 'nav.memory'),
  tab('/app/webhooks', 'nav.webhooks'),
  tab('/app/members', 'nav.members'),
  tab('/app/audit', 'nav.audit'),
  tab('/app/transfer', 'nav.transfer'),
]

/** The pages that share an entry with this one; empty when it has its own. */
export const tabsOf = (path: string): readonly TabItem[] =>
  [ACTIVITY, WORKSPACE_TABS].find((tabs) => tabs.some(({ to }) => to === path)) ?? []

/** The door behind which a page is. */
export function doorOf(path: string): Door {
  if (/^\/app\/(system|welcome)/.test(path)) return 'server'
  return path.replace(/\/$/, '') === CHAT || path === ASSISTANTS ? 'chat' : 'build'
}

/** Every page, for the palette. */
export const NAV_ITEMS: readonly TabItem[] = [
  CHAT_ITEM,
  ASSISTANTS_ITEM,
  ...BUILD_ITEMS,
  ...ACTIVITY.slice(1),
  ...WORKSPACE_TABS,
]

/** The pages in the bottom bar of a phone; the others are in the drawer. */
export const THUMB_ITEMS: readonly NavItem[] = [
  CHAT_ITEM,
  ASSISTANTS_ITEM,
  item('/app/kb', 'nav.kb', BookText),
]
