import { type RefObject, useMemo, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { useStable } from '../../lib/use-stable.ts'
import { ChunksDialog, type Passage } from '../kb/chunks-dialog.tsx'
import { Announcer } from './announcer.tsx'
import { Composer } from './composer.tsx'
import { useConversations } from './conversations.ts'
import { Head } from './head.tsx'
import { type Side, SideView } from './sides.tsx'
import { Starters } from './starters.tsx'
import { StickToBottom } from './stick-to-bottom.tsx'
import { Talk } from './talk.tsx'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useConversation } from './use-conversation.ts'
import type { Setup } from './use-setup.ts'
import { useVoice } from './use-voice.ts'
import { Why } from './why.tsx'

interface PaneProps {
  readonly choice: ReturnType<typeof useChosen>
  readonly setup: Setup
  readonly left: Side
  readonly right: Side
  readonly composer: RefObject<HTMLTextAreaElement | null>
  readonly onNew: () => void
}

/** The conversation and the details of a turn, which render again at each frame of an answer. */
export function Pane({ choice, setup, left, right, composer, onNew }: PaneProps) {
  const { t } = useI18n()
  const { chosen, choose } = choice
  const conversation = useConversation(choice, setup)
  const { turns, running, isEmpty, say, replace, stop } = conversation
  const { change } = useConversations()
  const voice = useVoice({
    ask: (text) => say({ text, images: [] }),
    play: ({ id }, sound) => change(chosen.session, id, (turn) => ({ ...turn, sound })),
  })
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  const onWhy = useStable(({ id }: Turn) => {
    setAsked(id)
    right.setOpen(true)
  })
  const actions = useMemo(
    () => ({ onOpen: setPassage, onWhy, onReplace: replace }),
    [onWhy, replace],
  )
  const shown = turns.find(({ id }) => id === asked) ?? turns.findLast(({ stats }) => stats) ?? null
  return (
    <>
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
                composer.current?.focus({ preventScroll: true })
              }}
            />
          )}
          <Talk key={chosen.session} conversation={conversation} actions={actions} />
          <StickToBottom
            key={`${chosen.session} end`}
            turns={turns}
            isHeld={conversation.found !== null}
          />
        </div>
        <Announcer key={chosen.session} turns={turns} />
        <div className="dock">
          <Composer
            key={chosen.session}
            session={chosen.session}
            field={composer}
            running={running}
            voice={voice}
            onSend={(text, images) => {
              setAsked(null)
              void say({ text, images })
            }}
            onStop={stop}
          />
        </div>
      </div>
      <SideView side={right} name="right" label={t('studio.right')}>
        <Why turn={shown} onOpen={setPassage} />
      </SideView>
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </>
  )
}
