import type { Principal } from '../../core/principal.ts'
import type { Llm } from '../../upstream/ports/llm.ts'
import type { Usage } from '../usage/service.ts'
import { countedLlm } from './call-count.ts'
import type { Channel } from './model-call.ts'

/** Which model answers a tenant: its own channel when it has one, else the platform's. */
export interface ChannelChoice {
  readonly label: 'byo' | 'platform'
  readonly llm: Llm
  /** The platform's, when `llm` is the tenant's own and failover is on. */
  readonly fallback: Llm | null
  /** Whether the tenant's configuration still chooses the same channel. */
  isCurrent(): Promise<boolean>
}

/** The same channel; its calls count for the key of the turn. */
export const counted = (
  { usage }: { readonly usage: Pick<Usage, 'countTokens'> },
  principal: Principal,
  channel: Channel,
): Channel => ({
  ...channel,
  llm: countedLlm(channel.llm, (tokens) => usage.countTokens(principal, channel.label, tokens)),
})

/** The fallback uses the platform's default model. */
export function fallbackOf({ fallback }: ChannelChoice): Channel | null {
  const isCurrent = async () => true
  return fallback && { label: 'platform_fallback', llm: fallback, model: null, isCurrent }
}
