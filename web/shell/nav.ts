import {
  Activity,
  ArrowLeftRight,
  BookText,
  Bot,
  Cable,
  ChartNoAxesColumn,
  House,
  KeyRound,
  type LucideIcon,
  MessagesSquare,
  Mic,
  ScrollText,
  ServerCog,
  Settings2,
  Smile,
  SquareTerminal,
  Users,
  Wrench,
} from 'lucide-react'
import type { Key } from '../i18n/index.tsx'

export interface NavItem {
  readonly to: string
  readonly label: Key
  readonly icon: LucideIcon
  /** The key that opens the page after `g`. */
  readonly letter: string
}

export const STUDIO = '/app/studio'

const item = (to: string, label: Key, icon: LucideIcon, letter: string): NavItem => ({
  to,
  label,
  icon,
  letter,
})

/** The pages of the console, in the order of their use. */
export const NAV: readonly { readonly title: Key | null; readonly items: readonly NavItem[] }[] = [
  {
    title: null,
    items: [item('/app', 'nav.home', House, 'h'), item(STUDIO, 'nav.studio', SquareTerminal, 'p')],
  },
  {
    title: 'nav.build',
    items: [
      item('/app/apps', 'nav.apps', Bot, 'a'),
      item('/app/kb', 'nav.kb', BookText, 'b'),
      item('/app/personas', 'nav.personas', Smile, 'r'),
      item('/app/tools', 'nav.tools', Wrench, 'o'),
      item('/app/provider', 'nav.provider', Cable, 'm'),
    ],
  },
  {
    title: 'nav.connect',
    items: [
      item('/app/keys', 'nav.keys', KeyRound, 'k'),
      item('/app/devices', 'nav.devices', Mic, 'd'),
    ],
  },
  {
    title: 'nav.observe',
    items: [
      item('/app/logs', 'nav.logs', Activity, 'l'),
      item('/app/usage', 'nav.usage', ChartNoAxesColumn, 'u'),
      item('/app/sessions', 'nav.sessions', MessagesSquare, 's'),
    ],
  },
  {
    title: 'nav.tenant',
    items: [
      item('/app/settings', 'nav.settings', Settings2, 't'),
      item('/app/members', 'nav.members', Users, 'e'),
      item('/app/audit', 'nav.audit', ScrollText, 'i'),
      item('/app/transfer', 'nav.transfer', ArrowLeftRight, 'x'),
    ],
  },
]

/** For operators only; the server refuses everybody else. */
export const SYSTEM_ITEM = item('/app/system', 'nav.system', ServerCog, 'y')

export const NAV_ITEMS: readonly NavItem[] = NAV.flatMap(({ items }) => items)

/** The pages in the bottom bar of a phone; the others are in the drawer. */
export const THUMB_ITEMS: readonly NavItem[] = NAV_ITEMS.filter(({ to }) =>
  ['/app', STUDIO, '/app/apps', '/app/keys'].includes(to),
)
