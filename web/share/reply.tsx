import { flushSync } from 'react-dom'
import { createRoot, type Root } from 'react-dom/client'
import type { CitedPassage } from '../api/visitor.ts'
import { Shown } from '../features/artifacts/kinds.ts'
import { Citations } from '../features/markdown/citations.tsx'
import { Markdown } from '../features/markdown/markdown.tsx'
import { enAnswer } from '../i18n/answer-en.ts'
import { zhAnswer } from '../i18n/answer-zh.ts'
import { type Dictionary, I18nProvider } from '../i18n/index.tsx'
import { ToastsContext } from '../lib/services.tsx'
import { createToasts } from '../lib/toasts.ts'
import { openPassage, placeOf } from './passage.ts'
import { language, words } from './words.ts'

const isChinese = language === 'zh-CN'

/** The renderer asks for the words of answers alone; the page has its other words itself. */
const texts = {
  dictionary: (isChinese ? zhAnswer : enAnswer) as Partial<Dictionary> as Dictionary,
  words: () => null,
  language: isChinese ? 'zh' : 'en',
} as const

const toasts = createToasts()

/** Inside another site a frame of this server is refused, so drawings stay code there. */
const shown = parent === window ? 'drawings' : 'none'

const roots: Root[] = []

/** Shows a reply in a box, as the console shows it; resolves what stands there at once. */
export function createReplyView(box: Element) {
  const root = createRoot(box)
  roots.push(root)
  return (text: string, passages: readonly CitedPassage[], willGrow: boolean): void =>
    flushSync(() =>
      root.render(
        <I18nProvider initial={texts}>
          <ToastsContext value={toasts}>
            <Shown value={shown}>
              <Citations value={passages.length > 0 ? citing(passages) : null}>
                <Markdown text={text} growing={willGrow} />
              </Citations>
            </Shown>
          </ToastsContext>
        </I18nProvider>,
      ),
    )
}

/** To be called when all replies leave the page: the frame of a drawing is asked until then. */
export function endReplies(): void {
  for (const root of roots.splice(0)) root.unmount()
}

/** `[1]` of a reply opens the passage of that number; a number without one stays text. */
function citing(passages: readonly CitedPassage[]) {
  return (number: number, quote: string) => {
    const passage = passages.find((one) => one.number === number)
    if (!passage) return null
    const place = placeOf(passage)
    return (
      <button
        type="button"
        className="cite"
        title={place}
        aria-label={words.cite(number, place)}
        onClick={() => openPassage(passage, quote)}
      >
        {number}
      </button>
    )
  }
}
