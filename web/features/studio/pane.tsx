import { type RefObject, Suspense, useMemo, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { lazyPart } from '../../lib/lazy-part.ts'
import { useStable } from '../../lib/use-stable.ts'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { Announcer } from './announcer.tsx'
import { Asks } from './asks.tsx'
import { Composer } from './composer.tsx'
import { useConversations } from './conversations.ts'
import { isTemporary, temporarySession } from './fresh.ts'
import { Head } from './head.tsx'
import { TalkName } from './rating.tsx'
import type { Leaf } from './right.tsx'
import { SideView, useRight } from './sides.tsx'
import { Starters } from './starters.tsx'
import { ToEnd, useEnd } from './stick-to-bottom.tsx'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useConversation } from './use-conversation.ts'
import { useKeys } from './use-keys.ts'
import type { Setup } from './use-setup.ts'
import { useVoice } from './use-voice.ts'

/** Loaded when there is something to show in them: an empty conversation needs none. */
const Talk = lazyPart(() => import('./talk.tsx'), 'Talk')
const Right = lazyPart(() => import('./right.tsx'), 'Right')
const CallBar = lazyPart(() => import('../call/call-bar.tsx'), 'CallBar')
const ChunksDialog = lazyPart(() => import('../kb/chunks-dialog.tsx'), 'ChunksDialog')

interface PaneProps {
  readonly choice: ReturnType<typeof useChosen>
  readonly setup: Setup
  readonly composer: RefObject<HTMLTextAreaElement | null>
  readonly onNew: () => void
}

/** The conversation and its right side, which render again at each frame of an answer. */
export function Pane({ choice, setup, composer, onNew }: PaneProps) {
  const { t } = useI18n()
  const { chosen, choose } = choice
  const right = useRight()
  const [leaf, setLeaf] = useState<Leaf>(chosen.app !== '' && !choice.linked ? 'setup' : 'sources')
  const conversation = useConversation(choice, setup)
  const { turns, running, isEmpty, say, ask, replace, stop, ways } = conversation
  const { change } = useConversations()
  const voice = useVoice({
    ask: (text) => say({ text, images: [] }),
    play: ({ id }, sound) => change(chosen.session, id, (turn) => ({ ...turn, sound })),
  })
  const [isCalling, setCalling] = useCalling(chosen.session)
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  const end = useEnd(chosen.session, turns, conversation.found !== null)
  useKeys({ composer, turns, onNew })
  const onWhy = useStable(({ id }: Turn) => {
    setAsked(id)
    setLeaf('sources')
    right.setOpen(true)
  })
  const onVersion = useStable((session: string) => choose({ session }))
  const actions = useMemo(
    () => ({ onOpen: setPassage, onWhy, onReplace: replace, onVersion }),
    [onWhy, replace, onVersion],
  )
  const shown = turns.find(({ id }) => id === asked) ?? turns.findLast(({ stats }) => stats) ?? null
  const onBeside = () => choose({ beside: { session: '', app: chosen.app } })
  const commands = {
    new: onNew,
    temporary: () => choose({ session: temporarySession() }),
    ...(isTemporary(chosen.session) ? {} : { compare: onBeside }),
  }
  return (
    <>
      <div className="talk">
        <Head
          title={turns[0]?.text ?? null}
          chosen={chosen}
          setup={setup}
          right={right}
          onApp={(app) => choose({ app })}
          onNew={onNew}
          onBeside={onBeside}
          onSession={(session) => choose({ session })}
        />
        <div className="talk-turns" ref={end.content}>
          {isEmpty && (
            <Starters
              app={setup.app}
              isTemporary={isTemporary(chosen.session)}
              onPick={(text) => {
                void say({ text, images: [] })
                composer.current?.focus({ preventScroll: true })
              }}
            />
          )}
          {turns.length > 0 && (
            <Suspense>
              <TalkName value={chosen.session}>
                <Talk
                  key={chosen.session}
                  conversation={conversation}
                  ways={ways}
                  actions={actions}
                />
              </TalkName>
            </Suspense>
          )}
        </div>
        {/* A call says its answers itself. */}
        {!isCalling && <Announcer key={chosen.session} turns={turns} />}
        <div className="dock">
          <ToEnd end={end} running={running} />
          <Asks turns={turns} />
          <Composer
            key={chosen.session}
            session={chosen.session}
            field={composer}
            running={running}
            voice={voice}
            hidden={isCalling}
            onCall={() => setCalling(true)}
            onApp={(app) => choose({ app })}
            commands={commands}
            setup={setup}
            onSend={(question) => {
              setAsked(null)
              ask(question)
            }}
            onStop={stop}
          />
          {isCalling && (
            <Suspense>
              <CallBar
                session={chosen.session}
                ask={(text) => say({ text, images: [] })}
                stop={stop}
                onEnd={() => {
                  setCalling(false)
                  requestAnimationFrame(() => composer.current?.focus({ preventScroll: true }))
                }}
              />
            </Suspense>
          )}
        </div>
      </div>
      <SideView side={right} label={t('studio.right')}>
        <Suspense>
          <Right leaf={leaf} onLeaf={setLeaf} setup={setup} turn={shown} onOpen={setPassage} />
        </Suspense>
      </SideView>
      {passage && (
        <Suspense>
          <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
        </Suspense>
      )}
    </>
  )
}

/** Whether a call is held in this conversation; it ends where another one is opened. */
function useCalling(session: string) {
  const [place, setPlace] = useState<string | null>(null)
  if (place !== null && place !== session) setPlace(null)
  return [place === session, (isOn: boolean) => setPlace(isOn ? session : null)] as const
}
