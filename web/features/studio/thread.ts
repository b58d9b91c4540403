import type { TranscriptTurn } from '../../api/types.ts'
import { storedTurn, type Turn, withDetails } from './turn.ts'

/**
 * Joins what the server has stored with the turns of this tab, oldest first. A turn of this tab
 * that is stored by now keeps its id, its pictures and its sound. What did not change is the same
 * object as before, also when its rows were loaded again, so that it is not drawn again.
 */
export function createThread() {
  const stored = new Map<number, { readonly row: TranscriptTurn; readonly turn: Turn }>()
  const settled = new WeakMap<Turn, { readonly row: TranscriptTurn; readonly turn: Turn }>()

  function storedOf(row: TranscriptTurn): Turn {
    const known = stored.get(row.seq)
    if (known && isSame(known.row, row)) return known.turn
    const turn = storedTurn(row)
    stored.set(row.seq, { row, turn })
    return turn
  }

  function settledOf(live: Turn, row: TranscriptTurn): Turn {
    const known = settled.get(live)
    if (known && isSame(known.row, row)) return known.turn
    const turn = withDetails(live, row)
    settled.set(live, { row, turn })
    return turn
  }

  return (rows: readonly TranscriptTurn[], live: readonly Turn[]): readonly Turn[] => {
    const waiting = [...live]
    const gone = replacedIn(live)
    const told = [...rows].sort((a, b) => b.seq - a.seq).filter((row) => !gone.seqs.has(row.seq))
    // From the newest on, because two turns may say the same.
    const turns = told.flatMap((row) => {
      const at = waiting.findLastIndex((turn) => isOf(turn, row))
      const [turn] = at < 0 ? [] : waiting.splice(at, 1)
      if (!turn) return storedOf(row)
      // Its number was not known yet when it was replaced.
      return gone.ids.has(turn.id) ? [] : settledOf(turn, row)
    })
    const open = waiting.filter(({ id }) => !gone.ids.has(id))
    return inOrder(turns.reverse(), open)
  }
}

/** How a turn was answered is stored with it and never changes. */
const isSame = (a: TranscriptTurn, b: TranscriptTurn) =>
  a === b ||
  (a.seq === b.seq &&
    a.created_at === b.created_at &&
    a.user_text === b.user_text &&
    a.reply === b.reply)

const isOf = (turn: Turn, row: TranscriptTurn) =>
  turn.state === 'done' && turn.reply === row.reply && row.user_text.startsWith(turn.text)

/** What is hidden while its replacement is written, and after; a failed one gives it back. */
function replacedIn(live: readonly Turn[]) {
  const by = live.filter(({ state }) => state === 'running' || state === 'done')
  const replaced = by.flatMap(({ replaces }) => replaces ?? [])
  return {
    ids: new Set(replaced.map(({ id }) => id)),
    seqs: new Set(replaced.map(({ seq }) => seq)),
  }
}

/** Puts turns that are not stored among those that are, by the time at which they were asked. */
function inOrder(stored: readonly Turn[], open: readonly Turn[]): readonly Turn[] {
  const waiting = [...open]
  const all = stored.flatMap((turn) => {
    const before = waiting.filter(({ at, state }) => at < turn.at && state !== 'running')
    for (const earlier of before) waiting.splice(waiting.indexOf(earlier), 1)
    return [...before, turn]
  })
  return [...all, ...waiting]
}
