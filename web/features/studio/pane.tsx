import { type RefObject, Suspense, useMemo, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { lazyPart } from '../../lib/lazy-part.ts'
import { useStable } from '../../lib/use-stable.ts'
import { Loaded, Loading } from '../../ui/state.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { Announcer } from './announcer.tsx'
import { Asks } from './asks.tsx'
import { Composer } from './composer.tsx'
import { useConversations } from './conversations.ts'
import { isTemporary, temporarySession } from './fresh.ts'
import { Head } from './head.tsx'
import type { Leaf } from './right.tsx'
import { SideView, useRight } from './sides.tsx'
import { Starters } from './starters.tsx'
import { ToEnd, useEnd } from './stick-to-bottom.tsx'
import { TalkName } from './talk-name.ts'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { type Conversation, useConversation } from './use-conversation.ts'
import { useKeys } from './use-keys.ts'
import type { Setup } from './use-setup.ts'
import { useVoice } from './use-voice.ts'

/** Loaded when there is something to show in them: an empty conversation needs none. */
const Talk = lazyPart(() => import('./talk.tsx'), 'Talk')
const Right = lazyPart(() => import('./right.tsx'), 'Right')
const CallBar = lazyPart(() => import('../call/call-bar.tsx'), 'CallBar')
const ChunksDialog = lazyPart(() => import('../kb/chunks-dialog.tsx'), 'ChunksDialog')
const FromHere = lazyPart(() => import('./from-here.tsx'), 'FromHere')
const NoTalk = lazyPart(() => import('./no-talk.tsx'), 'NoTalk')

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
  const { isEmpty, isMissing, isAwaited, ask, askAfter, replace, stop, ways } = conversation
  const { from, setFrom, shown, end, tell } = useView(conversation, choice)
  const { turns, running } = shown
  const { change } = useConversations()
  const voice = useVoice({
    ask: tell,
    play: ({ id }, sound) => change(chosen.session, id, (turn) => ({ ...turn, sound })),
  })
  const [isCalling, setCalling] = useHere<true>(chosen.session)
  const [passage, setPassage] = useState<Passage | null>(null)
  const [asked, setAsked] = useState<string | null>(null)
  useKeys({ composer, turns, onNew })
  const onWhy = useStable(({ id }: Turn) => {
    setAsked(id)
    setLeaf('sources')
    right.setOpen(true)
  })
  const onGone = useStable((session: string | null) =>
    session === null ? onNew() : choose({ session }),
  )
  const onFrom = useStable((seq: number) => {
    setFrom(seq)
    requestAnimationFrame(() => composer.current?.focus({ preventScroll: true }))
  })
  const actions = useMemo(
    () => ({ onOpen: setPassage, onWhy, onReplace: replace, onVersion: onGone, onFrom, onGone }),
    [onWhy, replace, onFrom, onGone],
  )
  const told = turns.find(({ id }) => id === asked) ?? turns.findLast(({ stats }) => stats) ?? null
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
          title={isMissing ? t('studio.gone') : conversation.title}
          chosen={chosen}
          setup={setup}
          right={right}
          onApp={(app) => choose({ app })}
          onNew={onNew}
          onBeside={onBeside}
          onSession={(session) => choose({ session })}
        />
        <div className="talk-turns" ref={end.content}>
          <Suspense>{isMissing && <NoTalk session={chosen.session} onNew={onNew} />}</Suspense>
          {isAwaited && <Loaded query={conversation.stored}>{() => null}</Loaded>}
          {isEmpty && !isMissing && (
            <Starters
              app={setup.app}
              isTemporary={isTemporary(chosen.session)}
              onPick={(text) => {
                void tell(text)
                composer.current?.focus({ preventScroll: true })
              }}
            />
          )}
          {turns.length > 0 && (
            <Suspense>
              <TalkName value={chosen.session}>
                <Talk
                  key={chosen.session}
                  conversation={{ ...conversation, ...shown }}
                  ways={ways}
                  actions={actions}
                />
              </TalkName>
            </Suspense>
          )}
        </div>
        {/* A call says its answers itself. */}
        {!isCalling && <Announcer turns={turns} />}
        <div className="dock">
          <ToEnd end={end} running={running} />
          <Asks turns={conversation.live} />
          <Suspense>{from !== null && <FromHere onEnd={() => setFrom(null)} />}</Suspense>
          <div className="message-room" />
          <Composer
            key={chosen.session}
            session={chosen.session}
            field={composer}
            running={running}
            {...(from === null ? { voice } : {})}
            hidden={isMissing || isCalling !== null}
            onCall={() => setCalling(true)}
            onApp={(app) => choose({ app })}
            commands={commands}
            setup={setup}
            onSend={(question) => {
              setAsked(null)
              if (from !== null) return askAfter(from, question)
              end.go()
              ask(question)
            }}
            onStop={stop}
          />
          {isCalling && (
            <Suspense>
              <CallBar
                session={chosen.session}
                ask={tell}
                stop={stop}
                onEnd={() => {
                  setCalling(null)
                  requestAnimationFrame(() => composer.current?.focus({ preventScroll: true }))
                }}
              />
            </Suspense>
          )}
        </div>
      </div>
      <SideView side={right} label={t('studio.right')}>
        <Suspense fallback={<Loading />}>
          <Right leaf={leaf} onLeaf={setLeaf} setup={setup} turn={told} onOpen={setPassage} />
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

/** The turn that the next question comes after, null for the last one, and the turns up to it. */
function useFrom({ turns, running, hasNewer }: Conversation, session: string) {
  const [from, setFrom] = useHere<number>(session)
  if (from === null) return { from, setFrom, shown: { turns, running, hasNewer } }
  const known = turns.filter(({ seq }) => seq !== null && seq <= from)
  const isWhole = known.at(-1)?.seq === from
  const shown = { turns: known, running: false, hasNewer: hasNewer && !isWhole }
  return { from, setFrom, shown }
}

/** What is shown of a conversation, and its end. */
function useView(
  conversation: Conversation,
  { chosen, choose }: Pick<PaneProps['choice'], 'chosen' | 'choose'>,
) {
  const { found, stored } = conversation
  const view = useFrom(conversation, chosen.session)
  const { turns, hasNewer } = view.shown
  const end = useEnd({
    place: `${chosen.session} ${found ?? ''}`,
    isHeld: found !== null,
    newest: turns.length > 0 && hasNewer ? null : turns.at(-1)?.id,
    onWanted: () => (found === null ? void stored.show(null) : choose({})),
  })
  const tell = (text: string) => {
    end.go()
    return conversation.say({ text, images: [] })
  }
  return { ...view, end, tell }
}

/** What holds in this conversation alone, and ends where another one is opened. */
function useHere<T>(session: string) {
  const [held, setHeld] = useState<{ readonly session: string; readonly value: T } | null>(null)
  if (held !== null && held.session !== session) setHeld(null)
  return [
    held?.session === session ? held.value : null,
    (value: T | null) => setHeld(value === null ? null : { session, value }),
  ] as const
}
