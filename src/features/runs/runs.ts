import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { sessionId } from '../../core/fields.ts'
import {
  RUN_AHEAD_DAYS_MAX,
  RUN_MODEL_CALLS_DEFAULT,
  RUN_RETENTION_DAYS,
} from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { personOf, subjectOf } from '../../core/subject.ts'
import type { Announcer } from '../../storage/shared-state.ts'
import type { AgentRequest } from '../agent/model.ts'
import type { Agent } from '../agent/service.ts'
import type { Sessions } from '../sessions/service.ts'
import type { SessionStore } from '../sessions/store.ts'
import type { TranscriptStore } from '../sessions/transcript-store.ts'
import type { TriggeredRun } from '../triggers/service.ts'
import type { Run, RunStatus } from './model.ts'
import { type HasApp, type HasWebhooks, isoOf } from './parts.ts'
import type { NewRun, RunRow, RunStore } from './run-store.ts'
import { queueRun } from './waiting.ts'

/** The turn of a run. */
type RunTurn = Omit<AgentRequest, 'replace_last' | 'interactive'>

/** A run that is asked for, besides the fields of its turn. */
interface RunAsked {
  readonly app_id: string | null
  readonly at: number | null
  readonly max_model_calls: number
  readonly webhook_ids: readonly string[]
}

export interface RunsOptions {
  readonly store: RunStore
  readonly hasApp: HasApp
  readonly agent: Pick<Agent, 'check'>
  readonly sessions: Pick<Sessions, 'checkTurn'>
  readonly owners: Pick<SessionStore, 'ownerOf'>
  readonly turns: Pick<TranscriptStore, 'turn'>
  readonly clock: Clock
  readonly hasWebhooks: HasWebhooks
  readonly announcer: Pick<Announcer, 'announce'>
  /** Ends a run that this server does. */
  readonly stop: (id: string) => void
  /** Called when a run may be due. */
  readonly wake: () => void
}

const missing = () => appError('not_found', { what: 'run' })
const PAST_MS_MAX = 60_000

/** Turns that nobody waits for. */
export function createRuns(options: RunsOptions) {
  const { store, clock, wake } = options

  async function row(principal: Principal, id: string): Promise<RunRow> {
    const found = await store.find(principal.tenantId, id)
    if (!found) throw missing()
    if (principal.kind === 'app' && found.app_id !== principal.appId) throw missing()
    const person = personOf(found.subject)
    const isOthers = person !== null && person !== principal.userId && found.schedule_id !== null
    if (isOthers && (await store.isReminder(found.tenant_id, found.schedule_id ?? ''))) {
      throw missing()
    }
    return found
  }

  /** What the run has said, where the caller may read its session. */
  async function replyOf(principal: Principal, run: RunRow): Promise<string | null> {
    if (run.seq === null || run.status !== 'done') return null
    const owner = await options.owners.ownerOf(run.tenant_id, run.session_id)
    if (!isReadable(principal, owner)) return null
    const turn = await options.turns.turn(run.tenant_id, run.session_id, run.seq, null)
    return turn?.reply ?? null
  }

  /** Throws `quota_schedules` and `runs_too_large`. */
  async function insert(run: NewRun): Promise<void> {
    await queueRun(store, run)
    wake()
  }

  return {
    async list(
      principal: Principal,
      asked: { readonly status: string | null; readonly scheduleId: string | null },
      before: string | null,
      limit: number,
    ) {
      const appId = principal.kind === 'app' ? principal.appId : null
      const filter = { ...asked, appId, userId: principal.userId }
      const rows = await store.list(principal.tenantId, filter, before, limit + 1)
      const runs = rows.slice(0, limit).map(shownRun)
      return { runs, next_before: rows.length > limit ? (runs.at(-1)?.id ?? null) : null }
    },

    async read(principal: Principal, id: string, withReply: boolean): Promise<Run> {
      const found = await row(principal, id)
      const run = shownRun(found)
      return withReply ? { ...run, reply: await replyOf(principal, found) } : run
    },

    /**
     * Throws `schedule_past`, `quota_schedules`, `runs_too_large`, and `not_found` for what is not
     * the caller's.
     */
    async create(principal: Principal, turn: RunTurn, asked: RunAsked): Promise<Run> {
      const id = newId()
      const now = clock.now()
      const due = asked.at ?? now
      if (due < now - PAST_MS_MAX) throw appError('schedule_past')
      if (due > now + RUN_AHEAD_DAYS_MAX * DAY_MS) throw appError('field_invalid', { field: 'at' })
      const app_id = await checkReferences(options, principal, asked)
      const named = turn.session_id ? sessionId(turn.session_id) : null
      // Nobody waits for the run, so what it could not have is refused now.
      await options.agent.check({ ...principal, appId: app_id }, turn, named)
      const session = named ?? `run-${id}`
      await insert(newRun(principal, turn, asked, { id, app_id, session, due, now }))
      return shownRun(await row(principal, id))
    },

    /** Begins the run of a trigger; what is gone of what it names, the run finds out. */
    async trigger(asked: TriggeredRun): Promise<{ readonly run_id: string }> {
      const { principal, trigger_id, name, text, app_id, webhook_ids } = asked
      const id = newId()
      const now = clock.now()
      const session = asked.session_id ?? `run-${id}`
      await options.sessions.checkTurn({ ...principal, appId: app_id, run: true }, session)
      const turn = { text, images: [], files: [], variables: {}, kb: true }
      const rest = { app_id, webhook_ids, at: null, max_model_calls: RUN_MODEL_CALLS_DEFAULT }
      const run = newRun(principal, turn, rest, { id, app_id, session, due: now, now })
      // Whoever knows the address writes its text: it runs with nobody's memory.
      await insert({ ...run, trigger_id, name, named_at: asked.saved_at, subject: null })
      return { run_id: id }
    },

    /** Ends a run that waits or runs; any other one stays as it is. */
    async cancel(principal: Principal, id: string): Promise<Run> {
      const { tenant_id } = await row(principal, id)
      if (await store.cancel(tenant_id, id, clock.now())) {
        options.stop(id)
        await options.announcer.announce('run canceled', id)
      }
      return shownRun(await row(principal, id))
    },

    /** Ends what waits for keys that were revoked and people who have left. */
    stopRevoked: (tenantId: string) => store.stopRevoked(tenantId, clock.now()),

    /** Deletes runs that ended long ago. */
    async prune(): Promise<void> {
      const before = clock.now() - RUN_RETENTION_DAYS * DAY_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type Runs = ReturnType<typeof createRuns>

/** The app of the run. Throws `not_found` for what is not the tenant's, or not the key's. */
async function checkReferences(
  { hasApp, hasWebhooks }: RunsOptions,
  { tenantId, kind, appId }: Principal,
  { app_id, webhook_ids }: RunAsked,
): Promise<string | null> {
  const own = kind === 'app' ? appId : app_id
  const isForeign = kind === 'app' && app_id !== null && app_id !== appId
  if (isForeign || (own !== null && !(await hasApp(tenantId, own)))) {
    throw appError('not_found', { what: 'app' })
  }
  if (webhook_ids.length > 0 && !(await hasWebhooks(tenantId, webhook_ids))) {
    throw appError('not_found', { what: 'webhook' })
  }
  return own
}

/** Whether the caller may read the session: a person's is that person's, and general keys'. */
const isReadable = ({ kind, userId, role }: Principal, owner: string | null | undefined): boolean =>
  kind === 'general' || (owner ? owner === userId : role !== 'viewer')

export const shownRun = (row: RunRow): Run => ({
  id: row.id,
  schedule_id: row.schedule_id,
  trigger_id: row.trigger_id,
  status: row.status as RunStatus,
  app_id: row.app_id,
  session_id: row.session_id,
  subject: row.subject,
  late: row.late === 1,
  due_at: new Date(row.due_at).toISOString(),
  started_at: isoOf(row.started_at),
  ended_at: isoOf(row.ended_at),
  error_class: row.error_class,
  model_calls: row.model_calls,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  tools: JSON.parse(row.tools) as Run['tools'],
  reply_chars: row.reply_chars,
})

/** The row of a run that is asked for. */
function newRun(
  principal: Principal,
  turn: RunTurn,
  asked: RunAsked,
  {
    id,
    app_id,
    session,
    due,
    now,
  }: { id: string; app_id: string | null; session: string; due: number; now: number },
): NewRun {
  const { tenantId, kind, keyId, userId } = principal
  return {
    id,
    tenant_id: tenantId,
    schedule_id: null,
    trigger_id: null,
    name: null,
    ask: {
      text: turn.text,
      images: turn.images,
      files: turn.files,
      variables: turn.variables,
      ...(turn.persona === undefined ? {} : { persona: turn.persona }),
      ...(turn.persona_id === undefined ? {} : { persona_id: turn.persona_id }),
      kb: turn.kb,
      ...(turn.collections == null ? {} : { collections: turn.collections }),
      max_model_calls: asked.max_model_calls,
      approved_tools: [],
      thinks: true,
      title: null,
    },
    app_id,
    session_id: session,
    subject: subjectOf(principal, turn.subject ?? undefined),
    device_id: null,
    webhook_ids: asked.webhook_ids,
    key_id: kind === 'session' ? null : keyId,
    user_id: userId,
    late: false,
    due_at: Math.max(due, now),
    fire_at: null,
    named_at: now,
    now,
  }
}
