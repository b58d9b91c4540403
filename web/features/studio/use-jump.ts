import { useEffectEvent, useLayoutEffect, useRef } from 'react'
import type { Turn } from './turn.ts'
import type { useStored } from './use-stored.ts'

/** Frames until the content above a turn has its final height. */
const SETTLING_FRAMES = 30

/** What a person does who wants to be elsewhere. */
const MOVES = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

/**
 * Brings the turn of this number into view, once, or the next one where it is deleted. The turns
 * around it are loaded in place of those that are shown unless it is among them.
 */
export function useJump(
  seq: number | null,
  turns: readonly Turn[],
  { rows, hasNextPage, hasPreviousPage, show }: ReturnType<typeof useStored>,
) {
  const shown = useRef<number | null>(null)
  const [newest = 0, oldest = 0] = [rows[0]?.seq, rows.at(-1)?.seq]
  const isOut = seq !== null && ((hasPreviousPage && seq > newest) || (hasNextPage && seq < oldest))
  const find = useEffectEvent(() => {
    const at = turns.findIndex((turn) => turn.seq !== null && turn.seq >= (seq ?? 0))
    return document.querySelector('.turns')?.children.item(at < 0 ? turns.length - 1 : at)
  })
  useLayoutEffect(() => {
    const isNew = seq !== shown.current
    if (!isOut) shown.current = seq
    if (seq === null || !isNew) return
    if (isOut) return void show(seq)
    const turn = find()
    let frame = 0
    let left = SETTLING_FRAMES
    const settle = () => {
      turn?.scrollIntoView({ block: 'start' })
      left -= 1
      if (left > 0) frame = requestAnimationFrame(settle)
    }
    settle()
    // Scrolling by the person cancels the jump.
    const stop = () => cancelAnimationFrame(frame)
    for (const move of MOVES) addEventListener(move, stop, { once: true, passive: true })
    return () => {
      stop()
      for (const move of MOVES) removeEventListener(move, stop)
    }
  }, [seq, isOut, show])
}
