import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { Bar, type Chosen } from '../features/playground/bar.tsx'
import { Composer } from '../features/playground/composer.tsx'
import { Past } from '../features/playground/past.tsx'
import { Starters } from '../features/playground/starters.tsx'
import { StickToBottom } from '../features/playground/stick-to-bottom.tsx'
import { TurnView } from '../features/playground/turn-view.tsx'
import { freshSession, useChosen } from '../features/playground/use-chosen.ts'
import { useConversation } from '../features/playground/use-conversation.ts'
import { useVoice } from '../features/playground/use-voice.ts'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'

export function Playground() {
  const { t } = useI18n()
  const choice = useChosen()
  const { chosen, choose } = choice
  const { turns, past, running, empty, say, again } = useConversation(choice)
  const voice = useVoice(turns, chosen.session)
  const composer = useRef<HTMLTextAreaElement>(null)
  const [passage, setPassage] = useState<Passage | null>(null)
  const toComposer = () => composer.current?.focus({ preventScroll: true })
  useEffect(() => {
    // On a phone the keyboard would cover the page.
    if (matchMedia('(hover: hover)').matches) composer.current?.focus({ preventScroll: true })
  }, [])
  const change = (more: Partial<Chosen>) => {
    if (more.app !== undefined) turns.stop()
    choose(more)
  }
  return (
    <Page title={t('nav.playground')} about={t('play.about')}>
      <Bar
        chosen={chosen}
        text={turns.turns.at(-1)?.text ?? t('curl.text')}
        onChange={change}
        onNew={() => {
          change({ session: freshSession() })
          toComposer()
        }}
      />
      <div className="mx-auto mt-8 grid max-w-3xl grid-cols-1 gap-8 pb-40">
        {past && <Past history={past} />}
        {empty && (
          <Starters
            onPick={(text) => {
              say(text)
              toComposer()
            }}
          />
        )}
        <ol className="grid grid-cols-1 gap-9">
          {turns.turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              onOpen={setPassage}
              onAgain={index === turns.turns.length - 1 ? again : undefined}
            />
          ))}
        </ol>
        <StickToBottom turns={turns.turns} past={past} />
      </div>
      <Dock>
        <Composer
          field={composer}
          running={running}
          voice={chosen.app ? null : voice}
          onSend={say}
          onStop={turns.stop}
        />
      </Dock>
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </Page>
  )
}

/** Sticks to the bottom of the window, above the conversation. */
function Dock({ children }: { readonly children: ReactNode }) {
  return (
    <div className="dock">
      <div className="mx-auto max-w-3xl">{children}</div>
    </div>
  )
}
