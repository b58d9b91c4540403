import { keep } from '../../lib/kept.ts'
import type { Question, SentFile } from './asked-of.ts'
import { isTemporary } from './fresh.ts'
import { newTurn, type Turn } from './turn.ts'
import { cut } from './turn-end.ts'

const NO_TURNS: readonly Turn[] = []
const UNSAVED = 'mb.unsaved'

const isLarge = ({ state, images }: Turn) => state === 'done' && images.length > 0
const light = (turn: Turn): Turn => ({ ...turn, images: [] })

/** The turns of this tab, by session. Those that the server did not store outlive a reload. */
export function createTurnStore(storage: Storage) {
  let bySession: ReadonlyMap<string, readonly Turn[]> = readUnsaved(storage)
  let next = 1
  const listeners = new Set<() => void>()

  const turnsOf = (session: string) => bySession.get(session) ?? NO_TURNS

  function set(session: string, turns: readonly Turn[]): void {
    const changed = new Map(bySession).set(session, turns)
    if (turns.length === 0) changed.delete(session)
    bySession = changed
    for (const listener of listeners) listener()
  }

  return {
    turnsOf,
    turnOf: (session: string, id: string) => turnsOf(session).find((one) => one.id === id) ?? null,
    sessions: () => [...bySession.keys()],
    add(session: string, question: Question, more: Partial<Turn> = {}): string {
      const id = `${Date.now()}-${next++}`
      set(session, [...turnsOf(session), { ...newTurn(id, question, performance.now()), ...more }])
      return id
    },
    change: (session: string, id: string, how: (turn: Turn) => Turn) =>
      set(
        session,
        turnsOf(session).map((turn) => (turn.id === id ? how(turn) : turn)),
      ),
    drop: (session: string, id: string) =>
      set(
        session,
        turnsOf(session).filter((turn) => turn.id !== id),
      ),
    forget: (session: string) => set(session, NO_TURNS),
    /** Drops the pictures of all other talks that the server has stored, and has by addresses. */
    keepPictures(session: string): void {
      for (const [other, turns] of bySession) {
        if (other === session || isTemporary(other)) continue
        if (turns.some(isLarge))
          set(
            other,
            turns.map((turn) => (isLarge(turn) ? light(turn) : turn)),
          )
      }
    },
    /** Saves unstored turns but temporary ones, without their pictures, which do not fit. */
    keepUnsaved(): void {
      const kept = [...bySession].filter(([session]) => !isTemporary(session))
      const unsaved = kept.map(([session, turns]) => {
        const open = turns.filter(({ state }) => state !== 'done')
        return [session, open.map(light)] as const
      })
      keep(UNSAVED, JSON.stringify(unsaved.filter(([, turns]) => turns.length > 0)), storage)
    },
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** An earlier version of this page has kept names alone. */
const sentFile = (file: SentFile | string): SentFile =>
  typeof file === 'string' ? { id: null, name: file } : file

/**
 * A turn that a reload interrupted counts as cut, unless the server goes on with it. What cannot be
 * read is dropped.
 */
function readUnsaved(storage: Storage): Map<string, readonly Turn[]> {
  try {
    const unsaved = JSON.parse(storage.getItem(UNSAVED) ?? '[]') as [string, Turn[]][]
    return new Map(
      unsaved.map(([session, turns]) => [
        session,
        turns.map((kept) => {
          const turn = { ...kept, files: kept.files.map(sentFile) }
          return turn.turnId === null ? cut(turn) : { ...turn, startedAt: 0 }
        }),
      ]),
    )
  } catch {
    return new Map()
  }
}
