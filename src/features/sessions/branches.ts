import type { Clock } from '../../core/clock.ts'
import { randomHex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import { SESSION_UNITS_MAX } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import { firstChars } from '../../core/text.ts'
import { isSeen } from './access.ts'
import type { NewBranch } from './branch-copy-store.ts'
import { createMaking, type MakingOptions } from './branch-making.ts'
import type { BranchSource, BranchStore, Version } from './branch-store.ts'
import { type Conversations, titleOfText } from './conversations.ts'
import type { BranchRequest } from './model.ts'
import { piecesOf } from './pieces.ts'
import type { Sessions } from './service.ts'

export interface BranchesOptions extends MakingOptions {
  readonly store: BranchStore
  readonly conversations: Pick<Conversations, 'titleOf'>
  readonly sessions: Pick<Sessions, 'remove'>
  readonly clock: Pick<Clock, 'iso'>
}

type TurnSize = Awaited<ReturnType<BranchStore['sizes']>>[number]

const missing = () => appError('not_found', { what: 'session' })
/** Bytes of the name that a branch gets. */
const NAME_BYTES = 16
const newBranchId = () => `br-${randomHex(NAME_BYTES)}`

/** Versions of a conversation, each a session of its own. */
export function createBranches(options: BranchesOptions) {
  const { store, conversations, sessions, clock } = options
  const making = createMaking(options)

  /** The session, when it exists for the caller. */
  async function sourceOf(principal: Principal, id: string): Promise<BranchSource> {
    const source = await store.source(principal.tenantId, id)
    if (!source || !isSeen(principal, source.user_id)) throw missing()
    if (principal.kind === 'app' && source.app_id !== principal.appId) throw missing()
    return source
  }

  /** What the branch remembers: the summary when it ends behind it, else all that fits. */
  function memoryOf(seq: number, source: BranchSource, turns: readonly TurnSize[]) {
    const { summary, folded_through: foldedThrough } = source
    if (foldedThrough <= seq) return { summary, foldedThrough }
    let bytes = 0
    for (const turn of turns) {
      bytes += turn.text
      if (bytes > SESSION_UNITS_MAX / 2) return { summary: '', foldedThrough: turn.seq }
    }
    return { summary: '', foldedThrough: 0 }
  }

  /** An app's key is told no words that another app was. */
  const titleFor = async (tenantId: string, id: string, appId: string | null): Promise<string> =>
    appId === null
      ? conversations.titleOf(tenantId, id)
      : titleOfText(await store.firstText(tenantId, id, appId))

  /** What the branch is to be, of the turns that are there now. */
  async function planned(
    { tenantId, kind, appId: keyApp }: Principal,
    id: string,
    seq: number,
    source: BranchSource,
  ): Promise<Omit<NewBranch, 'forQuestion' | 'without'>> {
    const appId = kind === 'app' ? keyApp : null
    if (seq > 0 && !(await store.hasTurn(tenantId, id, seq, appId))) throw missing()
    const turns = await store.sizes(tenantId, id, seq, appId)
    const base = (await titleFor(tenantId, id, appId)).replace(/ \(\d+\)$/, '')
    const number = ` (${Math.max(2, source.versions + 1)})`
    return {
      tenantId,
      from: id,
      num: source.num,
      id: newBranchId(),
      seq,
      pieces: piecesOf(turns.toReversed()),
      appId,
      // Numbered where it is stored: several may be made at once.
      title: firstChars(base, CONVERSATION_TITLE_CHARS_MAX - number.length),
      at: clock.iso(),
      ...memoryOf(seq, source, turns),
    }
  }

  return {
    /**
     * A new session with the turns up to one; 0 copies none. One that is made for a question gets
     * no files of later turns, and hides no version that goes further until something is asked in
     * it. Throws `not_found`, and the reason of the signal when it aborts before the branch is
     * whole.
     */
    async branch(
      principal: Principal,
      id: string,
      { seq, for_question: forQuestion = false }: BranchRequest,
      signal: AbortSignal,
    ): Promise<{ session_id: string }> {
      const { num } = await sourceOf(principal, id)
      for (;;) {
        const source = await sourceOf(principal, id)
        // Another session that has got the name meanwhile.
        if (source.num !== num) throw missing()
        const planning = await planned(principal, id, seq, source)
        // What only later turns named would be searched for the question all the same.
        const without = forQuestion ? await store.filesAfter(principal.tenantId, id, seq) : []
        const branch = { ...planning, forQuestion, without }
        if (await making.make(branch, signal)) return { session_id: branch.id }
      }
    },

    /** Deletes what stopped servers have left of branches. */
    sweep: making.sweep,

    /** All versions of a conversation; one that was never branched is the only one. */
    async versions(principal: Principal, id: string): Promise<{ versions: Version[] }> {
      await sourceOf(principal, id)
      return { versions: await store.versions(principal.tenantId, id) }
    },

    /** Deletes all versions. Idempotent, as the deletion of one. */
    async removeAll(principal: Principal, id: string): Promise<{ id: string; deleted: true }> {
      const { tenantId } = principal
      const source = await store.source(tenantId, id)
      const answer = { id, deleted: true } as const
      if (source === null || !isSeen(principal, source.user_id)) return answer
      const family = await store.familyOf(tenantId, id, newBranchId())
      const removed = new Set<string>()
      for (;;) {
        // A branch may have been made of one that was not deleted yet.
        const left = (await store.ofFamily(tenantId, family)).filter((one) => !removed.has(one))
        if (left.length === 0) return answer
        for (const one of left) await sessions.remove(principal, one)
        for (const one of left) removed.add(one)
      }
    },
  }
}

export type Branches = ReturnType<typeof createBranches>
