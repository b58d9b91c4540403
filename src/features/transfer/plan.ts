import { AppError } from '../../core/errors.ts'
import { IMPORT_ITEMS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'

export type Mode = 'skip' | 'merge'

/** What was not imported, as sentences for a person. */
export interface Notes {
  readonly skipped: string[]
  readonly errors: string[]
}

/** One thing to write: a new item, or the new content of the existing `id`. */
export interface Step<Item> {
  readonly id: string | null
  readonly item: Item
  /** Items of the document that the step covers: in `merge` the last of a name wins. */
  readonly items: number
}

export interface PlanOptions<Item> {
  /** The Chinese noun of the items. */
  readonly label: string
  readonly items: readonly unknown[]
  /** Validates an item; throws `AppError`. */
  readonly check: (item: unknown) => Item
  /** Ids of the tenant's items by name; those of `numbered` names where `isRepeated`. */
  readonly existing: ReadonlyMap<string, string>
  /** Whether items of one name are different ones: the second belongs to the second. */
  readonly isRepeated?: boolean
  readonly mode: Mode
  readonly notes: Notes
}

/** Decides for each item whether it is created, replaces one or is skipped; writes nothing. */
export function planImport<Item extends { readonly name: string }>(options: PlanOptions<Item>) {
  const { label, items, check, existing, mode, notes, isRepeated = false } = options
  const steps = new Map<string, Step<Item>>()
  const number = numbering()
  for (const [index, raw] of items.slice(0, IMPORT_ITEMS_MAX).entries()) {
    const item = checkItem(raw, check, `第 ${index + 1} 个${label}`, notes)
    if (!item) continue
    const name = isRepeated ? number(item.name) : item.name
    const planned = steps.get(name)
    const id = existing.get(name) ?? null
    if (mode === 'skip' && (id !== null || planned)) {
      notes.skipped.push(`${label}「${item.name}」${planned ? '在配置中重复' : '已存在'}，已跳过`)
    } else {
      steps.set(name, { id, item, items: (planned?.items ?? 0) + 1 })
    }
  }
  if (items.length > IMPORT_ITEMS_MAX) {
    const rest = items.length - IMPORT_ITEMS_MAX
    notes.skipped.push(`${label}超出单次导入上限（${IMPORT_ITEMS_MAX} 个），其余 ${rest} 个已跳过`)
  }
  return [...steps.values()]
}

function checkItem<Item>(
  raw: unknown,
  check: (item: unknown) => Item,
  place: string,
  { errors }: Notes,
): Item | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    errors.push(`${place}：应为对象`)
    return null
  }
  try {
    return check(raw)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    errors.push(`${place}：${error.message}`)
    return null
  }
}

type Named = readonly { readonly id: string; readonly name: string }[]

/** The id of the newest item of each name; `list` is newest first. */
export function newestByName(list: Named) {
  const ids = new Map<string, string>()
  for (const { id, name } of list) if (!ids.has(name)) ids.set(name, id)
  return ids
}

/** Tells items of one name apart: the first, the second, and so on. */
function numbering(): (name: string) => string {
  const counts = new Map<string, number>()
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return `${count} ${name}`
  }
}

/** The ids of all items by their numbered names, the oldest first; `list` is newest first. */
export function allByName(list: Named): Map<string, string> {
  const number = numbering()
  return new Map(list.toReversed().map(({ id, name }) => [number(name), id]))
}

/** Sentences of each kind in a report about documents; further ones are only counted. */
const LINES_MAX = 1_000

/** Reports on the documents of an import in a bounded number of sentences. */
export function createReport(notes: Notes, log: Logger) {
  const unlisted = { skipped: 0, errors: 0 }

  function add(kind: 'skipped' | 'errors', line: string): void {
    if (notes[kind].length < LINES_MAX) notes[kind].push(line)
    else unlisted[kind]++
  }

  return {
    skip: (line: string) => add('skipped', line),
    /** Reports an existing item that the import does not change. */
    skipKnown: (label: string) => add('skipped', `${label}已存在，已跳过`),
    fail: (line: string) => add('errors', line),

    /** Runs `work`; true on success. Reports a quota as skipped, any other failure as an error. */
    async attempt(label: string, work: () => Promise<void>): Promise<boolean> {
      try {
        await work()
        return true
      } catch (error) {
        if (error instanceof AppError) {
          const kind = error.errorClass === 'forbidden' ? 'skipped' : 'errors'
          add(kind, `${label}未导入：${error.message}`)
        } else {
          log.error('import failed', errorFields(error))
          add('errors', `${label}写入失败`)
        }
        return false
      }
    },

    end(): void {
      for (const kind of ['skipped', 'errors'] as const) {
        if (unlisted[kind] > 0) notes[kind].push(`另有 ${unlisted[kind]} 条未列出`)
      }
    },
  }
}

export type Report = ReturnType<typeof createReport>
