export interface Toast {
  readonly id: number
  readonly tone: 'good' | 'bad'
  /** An error is translated when it is shown, to the current language. */
  readonly text: string | Error
  readonly act?: Act | undefined
  /** Whether it is there until somebody closes it. */
  readonly stays?: boolean
}

/** What a message offers to do. */
interface Act {
  readonly label: string
  readonly run: () => void
}

const SHOWN_MS = { good: 4_000, bad: 9_000 } as const
const SHOWN_MAX = 4

/** Short messages at the edge of the page. A store outside React, so that any code can add one. */
export function createToasts() {
  let list: readonly Toast[] = []
  let next = 1
  const listeners = new Set<() => void>()
  const set = (changed: readonly Toast[]) => {
    list = changed
    for (const listener of listeners) listener()
  }
  const drop = (id: number) => set(list.filter((toast) => toast.id !== id))
  let isHeld = false
  /** Those whose time ended while they were held. */
  let due: number[] = []
  const end = (id: number) => (isHeld ? due.push(id) : drop(id))
  const hold = (holds: boolean) => {
    isHeld = holds
    if (holds) return
    for (const id of due) setTimeout(() => end(id), SHOWN_MS.good)
    due = []
  }
  const others = (text: Toast['text']) => list.filter((one) => String(one.text) !== String(text))
  return {
    read: () => list,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    show(tone: Toast['tone'], text: Toast['text'], act?: Act): void {
      const toast = { id: next++, tone, text, act }
      const [staying = [], passing = []] = [true, false].map((stays) =>
        others(text).filter((one) => (one.stays ?? false) === stays),
      )
      set([...staying, ...[...passing, toast].slice(-SHOWN_MAX)])
      setTimeout(() => end(toast.id), SHOWN_MS[tone])
    },
    /** While somebody points at a message, or has the focus in one, all of them stay. */
    hold,
    /** A message that stays until somebody closes it. */
    keep: (text: string): void =>
      set([...others(text), { id: next++, tone: 'good', text, stays: true }]),
    dismiss(id: number): void {
      drop(id)
      // What was pointed at is gone, and no event tells that it was left.
      hold(false)
    },
  }
}

export type Toasts = ReturnType<typeof createToasts>
