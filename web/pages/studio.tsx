import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { Announcer } from '../features/studio/announcer.tsx'
import { Composer } from '../features/studio/composer.tsx'
import { useConversations } from '../features/studio/conversations.ts'
import { Head } from '../features/studio/head.tsx'
import { Left } from '../features/studio/left.tsx'
import { SideView, useSide } from '../features/studio/sides.tsx'
import { Starters } from '../features/studio/starters.tsx'
import { StickToBottom } from '../features/studio/stick-to-bottom.tsx'
import { Talk } from '../features/studio/talk.tsx'
import type { Turn } from '../features/studio/turn.ts'
import { useChosen } from '../features/studio/use-chosen.ts'
import { useConversation } from '../features/studio/use-conversation.ts'
import { useSetup } from '../features/studio/use-setup.ts'
import { useVoice } from '../features/studio/use-voice.ts'
import { Why } from '../features/studio/why.tsx'
import { useI18n } from '../i18n/index.tsx'

/** The setup on the left, the conversation, and on the right why an answer came out as it did. */
export function Studio() {
  const { t } = useI18n()
  const choice = useChosen()
  const { chosen, choose, startNew } = choice
  const setup = useSetup(chosen.app, (app) => choose({ app }))
  const conversation = useConversation(choice, setup)
  const { turns, running, isEmpty, say, replace, stop } = conversation
  const { change } = useConversations()
  const voice = useVoice({
    ask: (text) => say({ text, images: [] }),
    play: ({ id }, sound) => change(chosen.session, id, (turn) => ({ ...turn, sound })),
  })
  const composer = useRef<HTMLTextAreaElement>(null)
  const left = useSide('left')
  const right = useSide('right')
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  const toComposer = () => composer.current?.focus({ preventScroll: true })
  useEffect(() => {
    // On a phone the keyboard would cover the page.
    if (matchMedia('(hover: hover)').matches) composer.current?.focus({ preventScroll: true })
  }, [])
  const showWhy = useRef(right.setOpen)
  showWhy.current = right.setOpen
  const onWhy = useCallback(({ id }: Turn) => {
    setAsked(id)
    showWhy.current(true)
  }, [])
  const actions = useMemo(
    () => ({ onOpen: setPassage, onWhy, onReplace: replace }),
    [onWhy, replace],
  )
  const onNew = () => {
    startNew()
    if (left.isSheet) left.setOpen(false)
    toComposer()
  }
  const shown = turns.find(({ id }) => id === asked) ?? turns.findLast(({ stats }) => stats) ?? null
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
      <div className="talk">
        <Head
          title={turns[0]?.text ?? null}
          chosen={chosen}
          text={turns.at(-1)?.text ?? t('curl.text')}
          kb={setup.asked.kb}
          isChanged={setup.isChanged}
          left={left}
          right={right}
          onApp={(app) => choose({ app })}
          onNew={onNew}
        />
        <div className="talk-turns">
          {isEmpty && (
            <Starters
              onPick={(text) => {
                void say({ text, images: [] })
                toComposer()
              }}
            />
          )}
          <Talk key={chosen.session} conversation={conversation} actions={actions} />
          <StickToBottom key={`${chosen.session} end`} turns={turns} />
        </div>
        <Announcer key={chosen.session} turns={turns} />
        <div className="dock">
          <Composer
            key={chosen.session}
            session={chosen.session}
            field={composer}
            running={running}
            voice={voice}
            onSend={(text, images) => void say({ text, images })}
            onStop={stop}
          />
        </div>
      </div>
      <SideView side={right} name="right" label={t('studio.right')}>
        <Why turn={shown} onOpen={setPassage} />
      </SideView>
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </div>
  )
}
