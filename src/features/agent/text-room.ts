import { ChannelFailure } from '../../channels/ports/failure.ts'
import { TURN_TEXT_UNITS_SURE, TURNS_TEXT_UNITS_MAX } from '../../core/limits/machine.ts'

/**
 * The memory that the answers under way take together, in UTF-16 units. Beyond it a turn that is
 * longer than nearly all are ends, so that many endless ones of one tenant do not end them all.
 */
export function createTextRoom(unitsMax = TURNS_TEXT_UNITS_MAX, sure = TURN_TEXT_UNITS_SURE) {
  let total = 0
  return {
    /** The part of one turn. */
    open() {
      let own = 0
      return {
        /** Throws `ChannelFailure` when there is no room for more of this turn. */
        add(units: number): void {
          own += units
          total += units
          if (total <= unitsMax || own <= sure) return
          throw new ChannelFailure('provider_error', 'too much text at a time')
        },
        close(): void {
          total -= own
          own = 0
        },
      }
    },
  }
}

export type TextRoom = ReturnType<typeof createTextRoom>
export type TextShare = ReturnType<TextRoom['open']>
