import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/index.ts'
import type { Audit } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { toolName } from '../../i18n/tool-words.ts'
import { listed } from '../../lib/listed.ts'
import { endsOf } from '../keys/names.ts'
import { useSettingWords } from '../system/setting-words.ts'

type Entry = Audit['entries'][number]

interface EntryProps {
  readonly entry: Entry
}

/** What keys are called now, by their ids; null for those that are gone. */
function useKeyNames(): (id: string) => string | null {
  const keys = useQuery({ queryKey: ['keys'], queryFn: api.keys.list }).data?.keys
  const devices = useQuery({ queryKey: ['devices'], queryFn: api.devices.list }).data?.devices ?? []
  return (id) => {
    if (!keys) return '…'
    const key = keys.find((one) => one.id === id)
    const device = devices.find((one) => one.id === key?.device_id)
    return key ? key.name || device?.name || endsOf(key) : null
  }
}

/** The person, or the key by the name that it has now. */
export function ChangedBy({ entry: { person, key_id: key } }: EntryProps) {
  const { t } = useI18n()
  const nameOf = useKeyNames()
  if (person !== null) return person
  const name = key === null ? null : nameOf(key)
  return name === null ? t('audit.key.gone') : t('audit.key', { name })
}

/** The pages on which the targets of actions stand, by the first part of the action. */
const PAGES: Readonly<Record<string, string>> = {
  key: '/app/keys',
  share: '/app/apps',
  persona: '/app/personas',
  prompt: '/app/prompts',
  schedule: '/app/schedules',
  webhook: '/app/webhooks',
  trigger: '/app/webhooks',
  document: '/app/kb',
  source: '/app/kb',
  collection: '/app/kb',
  member: '/app/members',
  server: '/app/tools',
}

/** The page of what was changed; null for what is gone or has none. */
function pageOf({ action, target }: Entry): string | null {
  const [noun = '', verb] = action.split('.')
  if (target === null || verb === 'delete' || verb === 'revoke') return null
  if (noun === 'app') return `/app/apps/${target}`
  if (noun === 'device') return `/app/devices/${target}`
  return PAGES[noun] ?? null
}

/** What there is one of has no id. */
const ALONE: Readonly<Record<string, readonly [words: Key, page: string]>> = {
  settings: ['audit.kind.settings', '/app/settings'],
  provider: ['audit.kind.provider', '/app/provider'],
  import: ['audit.kind.import', '/app/transfer'],
  memory: ['audit.kind.memory', '/app/memory'],
  system: ['audit.kind.system', '/app/system'],
}

function Alone({ noun }: { readonly noun: string }) {
  const { t } = useI18n()
  const alone = ALONE[noun]
  if (!alone) return '–'
  const [words, page] = alone
  return (
    <Link to={page} className="text-accent">
      {t(words)}
    </Link>
  )
}

/** What was answered to which tool, as "home/light_on accept". */
const ANSWER = /^(?:([^/]+)\/)?(.+) (accept|decline|cancel)$/
const ANSWERS = {
  accept: 'audit.accepted',
  decline: 'audit.declined',
  cancel: 'audit.canceled',
} as const

/** The tool by the name that people know, and what its question was answered; null for others. */
function useAnswer(): (name: string) => string | null {
  const { t, language } = useI18n()
  return (name) => {
    const [, server, tool = '', answer = ''] = ANSWER.exec(name) ?? []
    if (tool === '') return null
    const called = toolName(server === undefined ? tool : `${server}__${tool}`, language)
    const value = t(ANSWERS[answer as keyof typeof ANSWERS])
    return t('system.summary', { name: called, value })
  }
}

/** What was changed by its name, with the way to it; an id only where it never had a name. */
export function Target({ entry }: EntryProps) {
  const nameOf = useKeyNames()
  const { t, locale } = useI18n()
  const { fullNameOf } = useSettingWords()
  const answerOf = useAnswer()
  const { action, target } = entry
  const isKey = action.startsWith('key.') && target !== null
  const name = entry.target_name ?? (isKey ? nameOf(target) : null)
  if (action === 'system.update' && target !== null) {
    return listed(target.split(', ').map(fullNameOf), locale)
  }
  if (name === null) {
    const [noun = ''] = action.split('.')
    return target === null ? (
      <Alone noun={noun} />
    ) : (
      <span title={target}>{t('audit.id', { id: target.slice(-6) })}</span>
    )
  }
  const page = pageOf(entry)
  return page === null ? (
    <span title={target ?? undefined}>
      {action === 'ask.answer' ? (answerOf(name) ?? name) : name}
    </span>
  ) : (
    <Link to={page} className="text-accent" title={target ?? undefined}>
      {name}
    </Link>
  )
}
