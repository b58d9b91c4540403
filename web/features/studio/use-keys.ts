import { type RefObject, useEffect, useEffectEvent } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { isTyping } from '../../shell/keys.ts'
import { writeClipboard } from '../../ui/button.tsx'
import type { Turn } from './turn.ts'

interface KeysOptions {
  readonly composer: RefObject<HTMLTextAreaElement | null>
  readonly turns: readonly Turn[]
  readonly onNew: () => void
}

const CODE = /```[^\n]*\n([\s\S]*?)```/g

/** The last block of code of the newest answer that has one. */
function lastCode(turns: readonly Turn[]): string | undefined {
  const codes = turns.flatMap(({ reply }) => [...reply.matchAll(CODE)].map(([, code]) => code))
  return codes.at(-1)
}

/** Goes to the talk before or after the open one in the side bar. */
function toTalk(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('.rail-link')]
  const here = links.findIndex((link) => link.hasAttribute('aria-current'))
  links[here < 0 ? 0 : here + step]?.click()
}

/** The keys of a conversation. */
export function useKeys({ composer, turns, onNew }: KeysOptions): void {
  const { t } = useI18n()
  const toasts = useToasts()
  const copy = (text: string | undefined) => {
    if (!text) return
    void writeClipboard(text).then(
      () => toasts.show('good', t('copy.done')),
      () => toasts.show('bad', t('copy.failed')),
    )
  }
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    // Not under a dialog: it has keys of its own.
    if (document.querySelector('[data-modal]')) return
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event
    const does = (run: () => void) => {
      event.preventDefault()
      run()
    }
    if (altKey && !ctrlKey && key === 'ArrowUp') does(() => toTalk(-1))
    else if (altKey && !ctrlKey && key === 'ArrowDown') does(() => toTalk(1))
    else if ((ctrlKey || metaKey) && shiftKey) {
      if (key.toLowerCase() === 'o') does(onNew)
      if (key.toLowerCase() === 'c') does(() => copy(turns.findLast(({ reply }) => reply)?.reply))
      if (event.code === 'Semicolon') does(() => copy(lastCode(turns)))
    } else if (key === '/' && !ctrlKey && !isTyping(event.target)) {
      does(() => composer.current?.focus())
    } else toNext(event)
  })
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Arrow keys on a turn lead to the one before and after it. */
function toNext(event: KeyboardEvent): void {
  const here = event.target instanceof HTMLElement ? event.target : null
  if (!here?.matches('.turn')) return
  const next = { ArrowUp: here.previousElementSibling, ArrowDown: here.nextElementSibling }[
    event.key
  ]
  if (!(next instanceof HTMLElement)) return
  event.preventDefault()
  next.focus()
}
