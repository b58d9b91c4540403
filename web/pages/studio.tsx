import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { Announcer } from '../features/studio/announcer.tsx'
import { Bar } from '../features/studio/bar.tsx'
import { Composer } from '../features/studio/composer.tsx'
import { Past } from '../features/studio/past.tsx'
import { Starters } from '../features/studio/starters.tsx'
import { StickToBottom } from '../features/studio/stick-to-bottom.tsx'
import { TurnView } from '../features/studio/turn-view.tsx'
import { useChosen } from '../features/studio/use-chosen.ts'
import { useConversation } from '../features/studio/use-conversation.ts'
import { useVoice } from '../features/studio/use-voice.ts'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'

export function Studio() {
  const { t } = useI18n()
  const choice = useChosen()
  const { chosen, choose, startNew } = choice
  const { turns, past, running, empty, say, again, stop } = useConversation(choice)
  const voice = useVoice(chosen.session)
  const composer = useRef<HTMLTextAreaElement>(null)
  const [passage, setPassage] = useState<Passage | null>(null)
  const toComposer = () => composer.current?.focus({ preventScroll: true })
  useEffect(() => {
    // On a phone the keyboard would cover the page.
    if (matchMedia('(hover: hover)').matches) composer.current?.focus({ preventScroll: true })
  }, [])
  return (
    <Page title={t('nav.studio')} about={t('studio.about')}>
      <Bar
        chosen={chosen}
        text={turns.at(-1)?.text ?? t('curl.text')}
        onChange={choose}
        onNew={() => {
          startNew()
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
          {turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              onOpen={setPassage}
              onAgain={index === turns.length - 1 && !running ? again : undefined}
            />
          ))}
        </ol>
        <Announcer key={chosen.session} turns={turns} />
        <StickToBottom turns={turns} past={past} />
      </div>
      <Dock>
        <Composer
          key={chosen.session}
          session={chosen.session}
          field={composer}
          running={running}
          voice={chosen.app ? null : voice}
          onSend={say}
          onStop={stop}
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
