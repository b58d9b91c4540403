import type { CitedPassage } from '../api/visitor.ts'
import { plainOf } from '../features/kb/plain.ts'
import { nearestSentence } from '../features/kb/sentence.ts'
import { words } from './words.ts'

/** Where a passage stands: title, page and heading. */
export const placeOf = ({ title, page, heading }: CitedPassage): string =>
  [title, page === null ? null : words.page(page), heading].filter(Boolean).join(' · ')

/** Shows a passage over the page, with the sentence marked that supports `quote`. */
export function openPassage(passage: CitedPassage, quote: string): void {
  const dialog = document.createElement('dialog')
  const title = document.createElement('h2')
  const text = document.createElement('p')
  const close = document.createElement('button')
  dialog.className = 'passage'
  title.textContent = placeOf(passage)
  title.id = 'passage-title'
  dialog.setAttribute('aria-labelledby', title.id)
  // It may scroll, so the keyboard has to reach it.
  text.tabIndex = 0
  text.append(...marked(plainOf(passage.text), quote))
  close.type = 'button'
  close.className = 'quiet'
  close.textContent = words.closePassage
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close()
  })
  dialog.addEventListener('close', () => dialog.remove())
  dialog.append(title, text, close)
  document.body.append(dialog)
  dialog.showModal()
  text.querySelector('mark')?.scrollIntoView({ block: 'center' })
}

function marked(text: string, quote: string): (Node | string)[] {
  const span = nearestSentence(text, quote)
  if (!span) return [text]
  const mark = document.createElement('mark')
  const sentence = text.slice(span.from, span.to)
  const from = span.to - sentence.trimStart().length
  mark.textContent = sentence.trimStart()
  return [text.slice(0, from), mark, text.slice(span.to)]
}
