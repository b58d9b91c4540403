import { useSyncExternalStore } from 'react'
import { keep, kept } from './kept.ts'

export type Theme = 'light' | 'dark' | 'system'

const SAVED = 'mb.theme'
const CHANGED = 'mb:theme'
const system = () => matchMedia('(prefers-color-scheme: dark)')

const saved = kept(SAVED)
let theme: Theme = saved === 'light' || saved === 'dark' ? saved : 'system'

function apply(): void {
  const dark = theme === 'dark' || (theme === 'system' && system().matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
}

export function setTheme(next: Theme): void {
  theme = next
  keep(SAVED, next)
  apply()
  dispatchEvent(new Event(CHANGED))
}

function subscribe(listener: () => void): () => void {
  const query = system()
  query.addEventListener('change', listener)
  addEventListener(CHANGED, listener)
  return () => {
    query.removeEventListener('change', listener)
    removeEventListener(CHANGED, listener)
  }
}

/** The current theme. */
export const useTheme = (): Theme => useSyncExternalStore(subscribe, () => theme)

const isDark = (): boolean => {
  const shown = document.documentElement.dataset.theme
  return shown === undefined ? system().matches : shown === 'dark'
}

/** Whether the page is dark now; a page without a theme of its own follows the system. */
export const useDark = (): boolean => useSyncExternalStore(subscribe, isDark)
