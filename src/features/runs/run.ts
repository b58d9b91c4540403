import type { Clock } from '../../core/clock.ts'
import { AppError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import { personOf } from '../../core/subject.ts'
import { charCount } from '../../core/text.ts'
import type { TurnOrder } from '../../storage/shared-state.ts'
import type { AgentEvent } from '../agent/events.ts'
import type { ModelAnswer } from '../agent/model-loop.ts'
import type { Agent } from '../agent/service.ts'
import type { SessionMemory } from '../sessions/service.ts'
import type { Tenants } from '../tenants/service.ts'
import type { Usage } from '../usage/service.ts'
import type { RunAsk } from './ask-store.ts'
import { type EndingParts, storedWithDone } from './ending.ts'
import type { HasApp } from './parts.ts'
import { endingRun, type RunEnd, type RunQueue } from './queue-store.ts'
import type { RunRow } from './run-store.ts'

export interface RunParts extends EndingParts {
  readonly queue: RunQueue
  readonly hasApp: HasApp
  readonly agent: Pick<Agent, 'openTurn'>
  readonly memory: SessionMemory
  readonly turnOrder: TurnOrder
  readonly tenants: Pick<Tenants, 'roleIn'>
  readonly usage: Pick<Usage, 'countCall'>
  readonly clock: Clock
  readonly log: Logger
  /** Gives a conversation its title. */
  readonly entitle: (tenantId: string, sessionId: string, title: string) => Promise<void>
}

/** How a run ended; null where another server or a person has ended it. */
export interface Outcome {
  readonly end: RunEnd
  readonly reply: string | null
  readonly channel: string | null
}

/** Refusals for which whoever made the run has lost the right to it. */
const LOST = new Set(['invalid_key', 'not_signed_in', 'forbidden', 'forbidden_role'])

const NOTHING = { model_calls: 0, input_tokens: 0, output_tokens: 0, tools: [], reply_chars: null }
export const failedWith = (error_class: string): RunEnd => ({
  ...NOTHING,
  status: 'failed',
  error_class,
})

/** A run is refused: its maker may not do this. */
class Refused extends Error {
  constructor(readonly errorClass: string) {
    super(errorClass)
  }
}

/** Who a run acts for. Throws `Refused` for a maker who has lost the right to it. */
async function principalOf({ hasApp, queue, tenants }: RunParts, run: RunRow): Promise<Principal> {
  const { tenant_id: tenantId, key_id: keyId, user_id: userId, app_id: appId } = run
  if (appId !== null && !(await hasApp(tenantId, appId))) throw new Refused('not_found')
  if (keyId !== null) {
    const key = await queue.key(tenantId, keyId)
    if (!key) throw new Refused('forbidden')
    const kind = key.device_id !== null ? 'device' : key.app_id !== null ? 'app' : 'general'
    return { kind, tenantId, keyId, appId, deviceId: key.device_id, userId: null, run: true }
  }
  const role = userId === null ? null : await tenants.roleIn(tenantId, userId)
  const isOwnReminder = run.subject === `user:${userId}` && run.schedule_id !== null
  if (role === null || (role === 'viewer' && !isOwnReminder)) throw new Refused('forbidden')
  const person = { tenantId, keyId: null, appId, deviceId: null, userId, role }
  return { kind: 'session', ...person, run: true }
}

/** Follows the events of a turn. */
class Followed {
  readonly tools: { name: string; ok: boolean }[] = []
  seq: number | null = null
  error: string | null = null
  end: RunEnd | null = null
  reply = ''

  add(events: readonly AgentEvent[]): void {
    for (const event of events) {
      if (event.type === 'tool_result') this.tools.push({ name: event.name, ok: event.ok })
      else if (event.type === 'llm_end') this.seq = event.seq ?? null
      else if (event.type === 'error') this.error = event.code
    }
  }

  done({ text, modelCalls, usage }: Pick<ModelAnswer, 'text' | 'modelCalls' | 'usage'>): RunEnd {
    this.reply = text
    this.end = {
      status: 'done',
      error_class: null,
      model_calls: modelCalls,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      tools: this.tools,
      reply_chars: charCount(text),
    }
    return this.end
  }
}

/** Asks the model; the turn and the end of the run are stored together. */
async function think(
  parts: RunParts,
  run: RunRow,
  ask: RunAsk,
  { principal, holder }: { principal: Principal; holder: string },
  signal: AbortSignal,
): Promise<Outcome | null> {
  const { queue, agent, clock } = parts
  const followed = new Followed()
  let hasCalled = false
  const {
    text,
    images = [],
    files = [],
    variables = {},
    kb,
    collections,
    persona,
    persona_id,
  } = ask
  const turn = await agent.openTurn(
    principal,
    {
      text,
      images,
      files,
      variables,
      kb,
      ...(collections === undefined ? {} : { collections }),
      ...(persona === undefined ? {} : { persona }),
      ...(persona_id === undefined ? {} : { persona_id }),
      // A person's memory is for the runs of that person.
      subject: isOfPerson(run.subject, principal) ? run.subject : null,
      modelCallsMax: ask.max_model_calls,
      approvedTools: ask.approved_tools,
      async beforeModelCall() {
        if (hasCalled) return
        if (!(await queue.calling(run.id, holder))) throw new Error('the run is not ours')
        hasCalled = true
      },
      storing: (answer) => {
        const now = clock.now()
        const end = followed.done(answer)
        const ending = endingRun(run.id, holder, end, now)
        return [...ending, ...storedWithDone(parts, run, end, { reply: answer.text, now })]
      },
    },
    run.session_id,
  )
  const { keyId, appId, kind } = principal
  if (keyId !== null) {
    parts.usage.countCall({ ...principal, appId: kind === 'general' ? null : appId })
  }
  await turn.run(signal, (events) => {
    followed.add(events)
    return undefined
  })
  // What is stored is told, also while the server stops.
  if (followed.seq === null) signal.throwIfAborted()
  if (followed.seq === null && followed.error !== null) {
    const reason = LOST.has(followed.error) ? 'forbidden' : followed.error
    const end = { ...failedWith(reason), tools: followed.tools }
    return { end, reply: null, channel: turn.channel }
  }
  if (followed.end === null) return null
  if (followed.seq !== null) await queue.noteSeq(run.id, followed.seq)
  return { end: followed.end, reply: followed.reply, channel: turn.channel }
}

const isOfPerson = (subject: string | null, { userId }: Principal): boolean =>
  personOf(subject) === null || personOf(subject) === userId

/** Gives the text as it stands. */
async function say(
  parts: RunParts,
  run: RunRow,
  ask: RunAsk,
  { principal, holder }: { principal: Principal; holder: string },
  signal: AbortSignal,
): Promise<Outcome> {
  const { queue, turnOrder, memory, clock } = parts
  const { tenant_id: tenantId, session_id: sessionId } = run
  const followed = new Followed()
  const usage = { inputTokens: 0, outputTokens: 0, isEstimated: false }
  const end = followed.done({ text: ask.text, modelCalls: 0, usage })
  const seq = await turnOrder.run(
    tenantId,
    sessionId,
    async (order) => {
      const before = await memory.recall(tenantId, sessionId)
      const now = clock.now()
      const ending = endingRun(run.id, holder, end, now)
      const also = storedWithDone(parts, run, end, { reply: ask.text, now })
      const stored = await memory.appendTurn(before, {
        tenantId,
        sessionId,
        userText: run.name ?? '',
        reply: ask.text,
        at: clock.iso(),
        appId: principal.appId,
        deviceId: principal.deviceId,
        replaces: null,
        details: null,
        fence: [...order, ...ending, ...also],
        principal,
      })
      return stored.seq
    },
    signal,
  )
  if (seq !== null) await queue.noteSeq(run.id, seq)
  return { end, reply: ask.text, channel: null }
}

/** Does runs, one turn each. */
export function createRunning(parts: RunParts) {
  const { log } = parts

  /** How the run ended; null where it was not ours to the end. Rejects when `signal` aborts. */
  return async function run(
    row: RunRow,
    holder: string,
    signal: AbortSignal,
  ): Promise<Outcome | null> {
    try {
      const ask = await parts.queue.ask(row.id)
      if (ask === null) return null
      const principal = await principalOf(parts, row)
      const who = { principal, holder }
      const outcome = await (ask.thinks
        ? think(parts, row, ask, who, signal)
        : say(parts, row, ask, who, signal))
      if (outcome?.end.status === 'done' && ask.title !== null) {
        await parts
          .entitle(row.tenant_id, row.session_id, ask.title)
          .catch((error) => log.warn('title of a run not stored', errorFields(error)))
      }
      return outcome
    } catch (error) {
      signal.throwIfAborted()
      return { end: failedWith(classOf(error, log)), reply: null, channel: null }
    }
  }
}

function classOf(error: unknown, log: Logger): string {
  if (error instanceof Refused) return error.errorClass
  if (error instanceof AppError) return LOST.has(error.code) ? 'forbidden' : error.code
  log.error('run failed', errorFields(error))
  return 'internal'
}
