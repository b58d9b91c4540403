import type { Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { SYSTEM_SETTING_CHARS_MAX } from '../../core/limits/contract.ts'
import { secretTail } from '../../core/secret-tail.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { SystemPutRequest, SystemResponse, SystemSetting } from './model.ts'
import {
  isSameServer,
  isSystemSetting,
  KEY_OF_ADDRESS,
  SECRET_SETTINGS,
  SYSTEM_SETTINGS,
} from './settings.ts'
import type { SystemStore } from './store.ts'

/** Texts of settings by name. */
export type SettingTexts = Readonly<Record<string, string>>

/** Checked settings, and the parts made of them, which are not in use yet. */
export interface Prepared {
  commit(): void
  discard(): Promise<void>
}

export interface SystemOptions {
  readonly store: SystemStore
  /** Null when the operator switched encryption off; nothing can be saved then. */
  readonly seal: Seal | null
  /** Settings of the environment; they win over those of the console. */
  readonly environment: SettingTexts
  /** Settings of the console at the start. */
  readonly stored: SettingTexts
  /** The default of a setting; null when it is off by default. */
  readonly defaultOf: (name: string) => string | null
  /** Checks settings of the console and makes the parts. Throws `field_invalid`. */
  readonly prepare: (stored: SettingTexts) => Promise<Prepared>
  /** Throws why settings must not become those of the console; `by` wants to change some. */
  readonly allow: (change: SettingChange) => Promise<void>
  /** Reads the stored settings where other processes may change them; else null. */
  readonly readStored: () => Promise<SettingTexts | null>
  /** Called after a change, also of another process. */
  readonly onApplied: () => void
  /** Announces a change to other processes. */
  readonly announce: () => Promise<void>
}

/** Settings of the console before and after a change that is not made yet. */
export interface SettingChange {
  readonly before: SettingTexts
  readonly after: SettingTexts
  readonly by: ChangedBy
}

/** Who changes settings; `untested` skips the test mail. */
export interface ChangedBy {
  readonly email: string
  readonly untested: boolean
  readonly signal: AbortSignal
}

/** The owner that sealed values are bound to. No tenant has this id. */
const SYSTEM_OWNER = 'system'

/**
 * Settings of the whole server that its operator may set in the console. Settings of the
 * environment win and are locked. A change is checked, its parts are made, it is stored, and then
 * it is put in use, so a fault changes nothing. One change runs at a time.
 */
export function createSystem(options: SystemOptions) {
  const { store, seal, environment, prepare, allow, readStored, onApplied, announce } = options
  const edits = createSemaphore({ slots: 1 })
  let stored: SettingTexts = options.stored

  /** Locks also the address of a key of the environment: another address must not get that key. */
  function isLocked(name: string): boolean {
    const key = (KEY_OF_ADDRESS as Readonly<Record<string, string>>)[name]
    return name in environment || (key !== undefined && key in environment)
  }

  function show(name: string): SystemSetting {
    const given = environment[name] ?? stored[name]
    const source =
      name in environment ? 'environment' : name in stored ? 'console' : ('default' as const)
    const isSecret = SECRET_SETTINGS.has(name)
    return {
      name,
      value: isSecret
        ? null
        : given === undefined
          ? options.defaultOf(name)
          : withoutPassword(given),
      secret_tail: isSecret && given !== undefined ? secretTail(given) : null,
      source,
      locked: isLocked(name),
    }
  }

  /** Puts settings in use that another process has stored. */
  async function reload(): Promise<void> {
    const next = await readStored()
    if (next === null || sameTexts(next, stored)) return
    use(next, await prepare(next))
  }

  function use(next: SettingTexts, { commit }: Prepared): void {
    commit()
    stored = next
    onApplied()
  }

  async function apply(changes: Map<string, string | null>, { seal: sealed }: Seal) {
    await reload()
    dropKeys(changes, stored)
    const next = withChanges(stored, changes)
    const prepared = await prepare(next)
    try {
      await store.write(sealedRows(changes, sealed))
    } catch (error) {
      await prepared.discard()
      throw error
    }
    use(next, prepared)
    await announce()
  }

  const get = (): SystemResponse => ({ settings: SYSTEM_SETTINGS.map(show) })

  return {
    get,

    /** To be called when another process has changed settings. */
    reload: (): Promise<void> => edits.run('', reload),

    /** The key that is set for this address; empty for other addresses. */
    keyFor(address: string): string {
      const known = Object.entries(KEY_OF_ADDRESS).find(
        ([name]) => (environment[name] ?? stored[name]) === address,
      )
      return known ? (environment[known[1]] ?? stored[known[1]] ?? '') : ''
    },

    /** Throws a 400 that names the setting, and 503 without encryption. */
    async put(request: SystemPutRequest, by: ChangedBy): Promise<SystemResponse> {
      if (!seal) throw appError('system_not_available')
      const changes = changesOf(request, isLocked)
      // Before its turn: a mail server may be slow, and others must not wait for it.
      await allow({ before: stored, after: withChanges(stored, changes), by })
      await edits.run('', () => apply(changes, seal))
      return get()
    },
  }
}

/** Removes a key when its address changes and the request has no new key. */
function dropKeys(changes: Map<string, string | null>, stored: SettingTexts): void {
  for (const [address, key] of Object.entries(KEY_OF_ADDRESS)) {
    const to = changes.get(address)
    if (to === undefined || changes.has(key) || !(key in stored)) continue
    const from = stored[address]
    if (from !== undefined && !isSameServer(from, to)) changes.set(key, null)
  }
}

const sealedRows = (changes: ReadonlyMap<string, string | null>, sealed: Seal['seal']) =>
  new Map(
    [...changes].map(([name, text]) => [name, text === null ? null : sealed(text, ownerOf(name))]),
  )

function withChanges(stored: SettingTexts, changes: ReadonlyMap<string, string | null>) {
  const next: Record<string, string> = { ...stored }
  for (const [name, text] of changes) {
    if (text === null) delete next[name]
    else next[name] = text
  }
  return next
}

const sameTexts = (one: SettingTexts, other: SettingTexts): boolean =>
  Object.keys({ ...one, ...other }).every((name) => one[name] === other[name])

export type System = ReturnType<typeof createSystem>

function textOf(field: string, value: unknown): string | null {
  if (value === null) return null
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw appError('field_type', { field, kind: 'string_or_null' })
  }
  const text = String(value).trim()
  if (text.length > SYSTEM_SETTING_CHARS_MAX) {
    throw appError('field_too_long', { field, max: SYSTEM_SETTING_CHARS_MAX })
  }
  return text === '' ? null : text
}

/**
 * The changes of a request. Throws a 400 that names the setting; `isLocked` tells which are locked.
 */
function changesOf(
  request: SystemPutRequest,
  isLocked: (name: string) => boolean,
): Map<string, string | null> {
  const changes = new Map<string, string | null>()
  for (const [field, value] of Object.entries(request)) {
    if (!isSystemSetting(field)) {
      // Unknown fields are ignored as everywhere, except misspelt settings.
      if (field.startsWith('MB_')) throw appError('setting_unknown', { field })
      continue
    }
    if (isLocked(field)) throw appError('setting_locked', { field })
    const text = textOf(field, value)
    // Returning to the default is null; an empty list of ways would mean that nobody gets in.
    if (field === 'MB_SIGNIN' && value !== null && text === null) {
      throw appError('field_invalid', { field })
    }
    changes.set(field, text)
  }
  return changes
}

/** Binds a sealed value to its setting, so that a key does not open as another, shown setting. */
export const ownerOf = (name: string) => `${SYSTEM_OWNER}/${name}`

/** Hides the password that an address may contain. */
function withoutPassword(text: string): string {
  const url = URL.parse(text)
  if (!url || (url.password === '' && url.username === '')) return text
  url.username = ''
  url.password = ''
  return url.href
}
