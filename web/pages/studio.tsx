import { useEffect, useRef } from 'react'
import { Left } from '../features/studio/left.tsx'
import { Pane } from '../features/studio/pane.tsx'
import { SideView, useSide } from '../features/studio/sides.tsx'
import { useChosen } from '../features/studio/use-chosen.ts'
import { useSetup } from '../features/studio/use-setup.ts'
import { useI18n } from '../i18n/index.tsx'

/** The setup on the left, the conversation, and the details of a turn on the right. */
export function Studio() {
  const { t } = useI18n()
  const choice = useChosen()
  const { chosen, choose, startNew } = choice
  const setup = useSetup(chosen.app, (app) => choose({ app }))
  const composer = useRef<HTMLTextAreaElement>(null)
  const left = useSide('left')
  const right = useSide('right')
  const toComposer = () => composer.current?.focus({ preventScroll: true })
  useEffect(() => {
    // On a phone the keyboard would cover the page.
    if (matchMedia('(hover: hover)').matches) composer.current?.focus({ preventScroll: true })
  }, [])
  const onNew = () => {
    startNew()
    if (left.isSheet) left.setOpen(false)
    toComposer()
  }
  return (
    <div className="studio">
      <SideView side={left} name="left" label={t('studio.left')}>
        <Left
          setup={setup}
          session={chosen.session}
          first={chosen.app !== '' && !choice.linked ? 'setup' : 'rail'}
          onPick={(place) => {
            choose(place)
            if (left.isSheet) left.setOpen(false)
          }}
          onNew={onNew}
        />
      </SideView>
      <Pane {...{ choice, setup, left, right, composer, onNew }} />
    </div>
  )
}
