import { AppError } from '../../core/errors.ts'
import {
  APPS_MAX,
  COLLECTIONS_MAX,
  MCP_SERVERS_MAX,
  PROMPTS_MAX,
  SCHEDULES_MAX,
  WEBHOOKS_MAX,
} from '../../core/limits/contract.ts'
import { PERSONAS_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { ImportedApp } from '../apps/model.ts'
import type { Apps, ChangedBy } from '../apps/service.ts'
import type { CollectionRequest } from '../knowledge/collections/model.ts'
import type { CollectionService } from '../knowledge/collections/service.ts'
import type { ImportedMcpServer } from '../mcp-servers/model.ts'
import type { McpServers } from '../mcp-servers/service.ts'
import type { ImportedPersona } from '../personas/model.ts'
import type { Personas } from '../personas/service.ts'
import type { PromptRequest } from '../prompts/model.ts'
import type { Prompts } from '../prompts/service.ts'
import type { ImportedSchedule } from '../runs/model.ts'
import type { Schedules } from '../runs/schedules.ts'
import type { Settings } from '../settings/service.ts'
import type { WebhookRequest } from '../webhooks/model.ts'
import type { Webhooks } from '../webhooks/service.ts'
import { allByName, type Mode, type Notes, newestByName, planImport, type Step } from './plan.ts'

export interface ImportParts {
  readonly personas: Pick<Personas, 'heads' | 'create' | 'overwrite' | 'checkImported'>
  readonly apps: Pick<Apps, 'list' | 'create' | 'replace' | 'checkImported'>
  readonly settings: Pick<Settings, 'get' | 'replace' | 'checkImported' | 'isChosen' | 'same'>
  readonly prompts: Pick<Prompts, 'all' | 'create' | 'replace' | 'checkImported'>
  readonly webhooks: Pick<Webhooks, 'all' | 'carried' | 'create' | 'replace' | 'checkImported'>
  readonly collections: Pick<
    CollectionService,
    'all' | 'names' | 'create' | 'replace' | 'checkImported'
  >
  readonly schedules: Pick<Schedules, 'all' | 'import' | 'checkImported'>
  readonly mcpServers: Pick<McpServers, 'heads' | 'add' | 'overwrite' | 'checkImported'>
  readonly log: Logger
}

/** One import, into the tenant of the request. */
export interface ImportRun extends ImportParts {
  readonly tenantId: string
  readonly by: ChangedBy
  readonly mode: Mode
  readonly notes: Notes
}

/** Imports personas; returns how many were imported. */
export async function importPersonas(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { personas, tenantId, mode } = run
  const known = await personas.heads(tenantId)
  const hasDefault = known.some(({ is_default }) => is_default === 1)
  return importItems<ImportedPersona>(run, {
    label: '人设',
    items,
    known,
    max: PERSONAS_MAX,
    check: personas.checkImported,
    arrange: (steps) => oneDefault(steps, mode, hasDefault),
    write: ({ id, item }) =>
      id === null
        ? personas.create(tenantId, { ...item, is_default: item.is_default ?? false })
        : personas.overwrite(tenantId, id, item),
  })
}

/** Imports apps, after the personas that they refer to; returns how many were imported. */
export async function importApps(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { personas, apps, tenantId, by } = run
  const { apps: known } = await apps.list(tenantId)
  const personaIds = newestByName(await personas.heads(tenantId))
  const idsOf = await createIdsOf(run)
  return importItems<ImportedApp>(run, {
    label: '应用',
    items,
    known,
    max: APPS_MAX,
    check: apps.checkImported,
    write({ id, item: { persona_ref, ...item } }) {
      const collections = idsOf(item.collections)
      const app = { ...item, collections, persona_id: personaIds.get(persona_ref ?? '') ?? null }
      return id === null ? apps.create(tenantId, app) : apps.replace(by, id, app)
    },
  })
}

/** Imports collections, before what names them; returns how many were imported. */
export async function importCollections(run: ImportRun, items: readonly unknown[]) {
  const { collections, tenantId } = run
  return importItems<CollectionRequest>(run, {
    label: '文档集合',
    items,
    known: await collections.all(tenantId),
    max: COLLECTIONS_MAX,
    check: collections.checkImported,
    write: ({ id, item }) =>
      id === null ? collections.create(tenantId, item) : collections.replace(tenantId, id, item),
  })
}

/** The ids of the collections of a list of names. An unknown name stays and matches nothing. */
async function createIdsOf({ collections, tenantId }: ImportRun) {
  const ids = new Map((await collections.all(tenantId)).map(({ id, name }) => [name, id]))
  return <List extends readonly string[] | null | undefined>(names: List) =>
    (names?.map((name) => ids.get(name) ?? name) ?? names) as List
}

/** Imports prompts; returns how many were imported. */
export async function importPrompts(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { prompts, tenantId } = run
  return importItems<PromptRequest>(run, {
    label: '提示词',
    items,
    known: await prompts.all(tenantId),
    max: PROMPTS_MAX,
    check: prompts.checkImported,
    write: ({ id, item }) =>
      id === null ? prompts.create(tenantId, item) : prompts.replace(tenantId, id, item),
  })
}

/** Imports schedules, switched off, after the apps that they refer to; returns how many. */
export async function importSchedules(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { schedules, apps, tenantId, by } = run
  const appIds = newestByName((await apps.list(tenantId)).apps)
  return importItems<ImportedSchedule>(run, {
    label: '定时任务',
    items,
    known: await schedules.all(tenantId),
    max: SCHEDULES_MAX,
    check: schedules.checkImported,
    write: ({ id, item: { app_ref, ...item } }) =>
      schedules.import(by, id, { ...item, app_id: appIds.get(app_ref ?? '') ?? null }),
  })
}

/**
 * Imports webhooks, disabled and each with a new secret; returns how many were imported. Several
 * may have one name: each is imported, and overwrites the one in its place among them.
 */
export async function importWebhooks(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { webhooks, tenantId, by } = run
  return importItems<WebhookRequest>(run, {
    label: 'Webhook',
    items,
    known: await webhooks.all(tenantId),
    max: WEBHOOKS_MAX,
    isRepeated: true,
    check: webhooks.checkImported,
    write: ({ id, item }) =>
      id === null ? webhooks.create(by, item) : webhooks.replace(by, id, item),
  })
}

/** Imports MCP servers without listing their tools; returns how many were imported. */
export async function importMcpServers(run: ImportRun, items: readonly unknown[]): Promise<number> {
  const { mcpServers, tenantId } = run
  return importItems<ImportedMcpServer>(run, {
    label: 'MCP 服务器',
    items,
    known: await mcpServers.heads(tenantId),
    max: MCP_SERVERS_MAX,
    check: mcpServers.checkImported,
    write: ({ id, item }) =>
      id === null ? mcpServers.add(tenantId, item) : mcpServers.overwrite(tenantId, id, item),
  })
}

/** Imports the settings unless mode is `skip` and the tenant has set some; true if imported. */
export async function importSettings(run: ImportRun, raw: unknown): Promise<boolean> {
  const { settings, tenantId, mode, notes, log } = run
  if (raw === undefined || raw === null) return false
  try {
    const given = settings.checkImported(raw)
    const idsOf = await createIdsOf(run)
    const next = { ...given, collections: idsOf(given.collections) }
    const current = await settings.get(tenantId)
    if (mode === 'skip' && settings.isChosen(current)) {
      if (!settings.same(current, next)) notes.skipped.push('设置已存在，已跳过')
      return false
    }
    await settings.replace(tenantId, next)
    return true
  } catch (error) {
    if (!(error instanceof AppError)) log.error('import failed', errorFields(error))
    notes.errors.push(error instanceof AppError ? `设置：${error.message}` : '设置写入失败')
    return false
  }
}

interface ItemKind<Item> {
  /** The Chinese noun of the items. */
  readonly label: string
  readonly items: readonly unknown[]
  /** The tenant's items of this kind, newest first. */
  readonly known: readonly { readonly id: string; readonly name: string }[]
  /** How many items a tenant may have. */
  readonly max: number
  /** Whether items of one name are different ones. */
  readonly isRepeated?: boolean
  /** Validates an item; throws `AppError`. */
  readonly check: (item: unknown) => Item
  /** Changes the steps before they are written. */
  readonly arrange?: (steps: readonly Step<Item>[]) => readonly Step<Item>[]
  readonly write: (step: Step<Item>) => Promise<unknown>
}

/** Plans and writes items of one kind; a failure becomes a note. Returns how many were imported. */
async function importItems<Item extends { readonly name: string }>(
  { mode, notes, log }: ImportRun,
  kind: ItemKind<Item>,
): Promise<number> {
  const { label, items, known, max, check, isRepeated = false, arrange, write } = kind
  const existing = isRepeated ? allByName(known) : newestByName(known)
  const planned = planImport<Item>({ label, items, check, existing, isRepeated, mode, notes })
  const steps = arrange ? arrange(planned) : planned
  const fits = steps.filter(({ id }) => id === null).length <= max - known.length
  const written = fits ? await Promise.allSettled(steps.map(write)) : await inOrder(steps, write)
  let imported = 0
  for (const [index, outcome] of written.entries()) {
    const step = steps[index]
    if (!step) continue
    if (outcome.status === 'fulfilled') imported += step.items
    else addNote(`${label}「${step.item.name}」`, outcome.reason, notes, log)
  }
  return imported
}

/** Writes one after another, so that the quota refuses the last ones in every database. */
async function inOrder<Item>(steps: readonly Item[], write: (step: Item) => Promise<unknown>) {
  const written: PromiseSettledResult<unknown>[] = []
  for (const step of steps) written.push(...(await Promise.allSettled([write(step)])))
  return written
}

/** Notes a failed step: a quota as skipped, anything else as an error. */
function addNote(what: string, reason: unknown, { skipped, errors }: Notes, log: Logger): void {
  if (reason instanceof AppError && reason.errorClass === 'forbidden') {
    skipped.push(`${what}未导入：${reason.message}`)
    return
  }
  if (!(reason instanceof AppError)) log.error('import failed', errorFields(reason))
  errors.push(`${what}写入失败`)
}

/**
 * Leaves at most one persona as the default: with `merge` the last marked one, with `skip` the
 * first, and none when the tenant has a default.
 */
function oneDefault(
  steps: readonly Step<ImportedPersona>[],
  mode: Mode,
  hasDefault: boolean,
): Step<ImportedPersona>[] {
  const isMarked = ({ item }: Step<ImportedPersona>) => item.is_default === true
  const first = hasDefault ? -1 : steps.findIndex(isMarked)
  const chosen = mode === 'merge' ? steps.findLastIndex(isMarked) : first
  return steps.map((step, index) =>
    isMarked(step) && index !== chosen
      ? { ...step, item: { ...step.item, is_default: false } }
      : step,
  )
}
