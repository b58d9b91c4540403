import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { MemoryBudget } from '../../core/memory-budget.ts'
import type { Meters } from '../../core/meters.ts'
import type { Principal } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { Fence } from '../../storage/shared-state.ts'
import type { TurnPerson } from '../asks/service.ts'
import type { TurnFiles } from '../files/turn-files.ts'
import type { Kb } from '../knowledge/service.ts'
import type { TurnMemories } from '../memories/turn-memories.ts'
import type { TurnTools } from '../runs/reminder-tools.ts'
import type { Folding } from '../sessions/folding.ts'
import type { SessionMemory } from '../sessions/service.ts'
import type { Titles } from '../sessions/titles.ts'
import type { Usage } from '../usage/service.ts'
import type { ChannelChoice } from './channel-choice.ts'
import type { TurnGuard } from './open-turns.ts'
import type { Trace } from './trace.ts'
import type { ResolvedTurn, ToolSources, TurnRequest } from './turn-config.ts'

export interface TurnOptions extends ToolSources {
  readonly clock: Clock
  readonly log: Logger
  readonly meters: Meters
  readonly memory: SessionMemory
  readonly folding: Folding
  readonly titles: Pick<Titles, 'start'>
  readonly retrieve: Kb['retrieve']
  readonly usage: Pick<Usage, 'countTokens' | 'stored'>
  readonly files: Pick<TurnFiles, 'ready' | 'open'>
  /** The tools of reminders. */
  readonly reminders: (principal: Principal, subject: string | null) => TurnTools
  /** Stores what tools have written in a turn that is not stored itself, if `fence` holds. */
  readonly keep: (fence: Fence, writes: readonly Statement[]) => Promise<void>
  readonly memories: TurnMemories
  /** The memory that all requests share. */
  readonly budget: MemoryBudget
}

/** Everything that a turn depends on. */
export interface Turn {
  readonly principal: Principal
  /** Null for a turn that neither recalls nor stores anything. */
  readonly sessionId: string | null
  readonly request: TurnRequest
  /** Whom the turn is spoken with; null: nobody. */
  readonly subject: string | null
  readonly resolved: ResolvedTurn
  readonly channel: ChannelChoice
  readonly trace: Trace
  /** Whom the turn may ask; null where nobody answers. */
  readonly person: TurnPerson | null
  readonly confirm: TurnGuard['confirm']
  /** Statements that run in the transaction that stores the turn. */
  readonly fence: Fence
}
