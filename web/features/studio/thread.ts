import type { TranscriptTurn } from '../../api/types.ts'
import { storedTurn, type Turn, withDetails } from './turn.ts'

/** Whether the talk has stored turns before and after those that are loaded. */
interface Around {
  readonly hasOlder: boolean
  readonly hasNewer: boolean
}

const ALONE: Around = { hasOlder: false, hasNewer: false }

/**
 * Joins stored turns with the turns of this tab, oldest first. A turn of this tab that has been
 * stored keeps its id, pictures and sound. Unchanged turns stay the same object, also when their
 * rows were loaded again, so that they do not render again.
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
    // The pictures of a talk that was left are at the server alone.
    const { images, pictures } = live.images.length > 0 ? live : storedOf(row)
    const turn = { ...withDetails(live, row), images, pictures }
    settled.set(live, { row, turn })
    return turn
  }

  return (
    rows: readonly TranscriptTurn[],
    live: readonly Turn[],
    { hasOlder, hasNewer }: Around = ALONE,
  ): readonly Turn[] => {
    const waiting = [...live]
    const gone = replacedIn(live)
    const told = [...rows].sort((a, b) => b.seq - a.seq).filter((row) => !gone.seqs.has(row.seq))
    // Matches from the newest on, because two turns may have the same texts.
    const turns = told.flatMap((row) => {
      const at = waiting.findLastIndex((turn) => isOf(turn, row))
      const [turn] = at < 0 ? [] : waiting.splice(at, 1)
      if (!turn) return storedOf(row)
      // When it was replaced, its number was not known yet.
      return gone.ids.has(turn.id) ? [] : settledOf(turn, row)
    })
    const [newest = 0, oldest = 0] = [told[0]?.seq, told.at(-1)?.seq]
    // Stored once, and not there any more: the talk was deleted, and begun anew.
    const isLost = ({ seq }: Turn) => seq !== null && seq >= oldest && seq <= newest
    const isBefore = ({ seq }: Turn) => hasOlder && seq !== null && seq < oldest
    const open = waiting.filter(
      (turn) => !gone.ids.has(turn.id) && !isLost(turn) && !isBefore(turn),
    )
    return inOrder(turns.reverse(), open, hasNewer)
  }
}

/** Whether both rows are equal; skips `details`, because those of a stored turn never change. */
const isSame = (a: TranscriptTurn, b: TranscriptTurn) =>
  a === b ||
  (a.seq === b.seq &&
    a.rating === b.rating &&
    a.created_at === b.created_at &&
    a.user_text === b.user_text &&
    a.reply === b.reply)

const isOf = (turn: Turn, row: TranscriptTurn) =>
  turn.state === 'done' &&
  (turn.seq === row.seq || (turn.reply === row.reply && row.user_text.includes(turn.text)))

/** The turns that are hidden by their replacements; a failed replacement shows its turn again. */
function replacedIn(live: readonly Turn[]) {
  const by = live.filter(({ state }) => state === 'running' || state === 'done')
  const replaced = by.flatMap(({ replaces }) => replaces ?? [])
  return {
    ids: new Set(replaced.map(({ id }) => id)),
    seqs: new Set(replaced.map(({ seq }) => seq)),
  }
}

/**
 * Merges unstored turns into the stored ones, by the time at which they were asked. Those after the
 * last one are left out where others come in between.
 */
function inOrder(
  stored: readonly Turn[],
  open: readonly Turn[],
  hasNewer: boolean,
): readonly Turn[] {
  const waiting = [...open]
  const all = stored.flatMap((turn) => {
    const before = waiting.filter(({ at, state }) => at < turn.at && state !== 'running')
    for (const earlier of before) waiting.splice(waiting.indexOf(earlier), 1)
    return [...before, turn]
  })
  return hasNewer ? all : [...all, ...waiting]
}
