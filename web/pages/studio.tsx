import { Suspense, useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import { Pane } from '../features/studio/pane.tsx'
import { useChosen } from '../features/studio/use-chosen.ts'
import { useSetup } from '../features/studio/use-setup.ts'
import { lazyPart } from '../lib/lazy-part.ts'

const Beside = lazyPart(() => import('../features/studio/beside.tsx'), 'Beside')

/** Dispatched on the window when a new talk was asked for elsewhere. */
const COMPOSE = 'mb:compose'

/** On a phone the keyboard would cover the page. */
const mayType = () => matchMedia('(hover: hover)').matches

/** The conversation, with the details of a turn and its setup on the right. */
export function Studio() {
  const choice = useChosen()
  const { chosen, choose, startNew } = choice
  const setup = useSetup(chosen.app, (app) => choose({ app }))
  const composer = useRef<HTMLTextAreaElement>(null)
  const toComposer = useEffectEvent(() => composer.current?.focus({ preventScroll: true }))
  const { session } = chosen
  // The field that had the focus was the one of the talk before.
  useLayoutEffect(() => {
    if (session && mayType() && document.activeElement === document.body) toComposer()
  }, [session])
  useEffect(() => {
    const onAsked = () => requestAnimationFrame(toComposer)
    if (mayType()) toComposer()
    addEventListener(COMPOSE, onAsked)
    return () => removeEventListener(COMPOSE, onAsked)
  }, [])
  const onNew = () => {
    startNew()
    composer.current?.focus({ preventScroll: true })
  }
  return (
    <div className="studio">
      {chosen.beside ? (
        <Suspense>
          <Beside {...{ choice, setup, composer }} beside={chosen.beside} />
        </Suspense>
      ) : (
        <Pane {...{ choice, setup, composer, onNew }} />
      )}
    </div>
  )
}
