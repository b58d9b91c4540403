import type { KeyboardEvent } from 'react'

/** Arrows, Home and End show another tab of a list and take the focus there. */
export const tabKeys =
  <T>(tabs: readonly T[], shown: T, show: (tab: T) => void) =>
  (event: KeyboardEvent<HTMLElement>) => {
    const { length } = tabs
    const at = tabs.indexOf(shown)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + length, Home: 0, End: length - 1 }
    const place = to[event.key as keyof typeof to]
    if (place === undefined) return
    event.preventDefault()
    show(tabs[place % length] as T)
    const { children = [] } = event.currentTarget.parentElement ?? {}
    const next = children[place % length]
    if (next instanceof HTMLElement) next.focus()
  }
