import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Sparkles } from 'lucide-react'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { api } from '../api/index.ts'
import { ChunksDialog, type Passage } from '../features/kb/chunks-dialog.tsx'
import { Bar, type Chosen } from '../features/playground/bar.tsx'
import { Composer } from '../features/playground/composer.tsx'
import { Follow } from '../features/playground/follow.tsx'
import { Past } from '../features/playground/past.tsx'
import type { Turn } from '../features/playground/turn.ts'
import { TurnView } from '../features/playground/turn-view.tsx'
import { useTurns } from '../features/playground/use-turns.ts'
import { useVoice } from '../features/playground/use-voice.ts'
import { useI18n } from '../i18n/index.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/state.tsx'

const freshSession = () => `play-${crypto.getRandomValues(new Uint32Array(1))[0]?.toString(36)}`

/** App and session stand in the address, so that a conversation can be linked to. */
function useChosen() {
  const navigate = useNavigate()
  const search: Record<string, unknown> = useSearch({ strict: false })
  const [first] = useState(freshSession)
  const [kb, setKb] = useState(true)
  const text = (name: string) => (search[name] === undefined ? '' : String(search[name]))
  const chosen: Chosen = { app: text('app'), session: text('session') || first, kb }
  const choose = (more: Partial<Chosen>) => {
    if (more.kb !== undefined) setKb(more.kb)
    const { app, session } = { ...chosen, ...more }
    void navigate({ to: '.', search: { ...(app ? { app } : {}), session }, replace: true })
  }
  return { chosen, choose }
}

export function Playground() {
  const { t } = useI18n()
  const { chosen, choose } = useChosen()
  const turns = useTurns()
  const [passage, setPassage] = useState<Passage | null>(null)
  const voice = useVoice(turns, chosen.session)
  const running = turns.turns.some(({ state }) => state === 'running')
  // What was said before this visit; turns of this visit are shown from their streams.
  const past = useQuery({
    queryKey: ['history', chosen.session],
    queryFn: () => api.sessions.history(chosen.session),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const request = (text: string, images: readonly string[]) => ({
    text,
    images,
    session_id: chosen.session,
    app_id: chosen.app || null,
    kb: chosen.kb,
  })
  const change = (more: Partial<Chosen>) => {
    if (more.session !== undefined || more.app !== undefined) turns.stop()
    if (more.session !== undefined) turns.clear()
    choose(more)
  }
  const latest = useRef(request)
  latest.current = request
  const { send } = turns
  const sender = useRef(send)
  sender.current = send
  const again = useCallback((turn: Turn) => {
    void sender.current(latest.current(turn.text, turn.images))
  }, [])
  const empty = turns.turns.length === 0 && (past.data?.count ?? 0) === 0
  return (
    <Page title={t('nav.playground')} about={t('play.about')}>
      <Bar
        chosen={chosen}
        text={turns.turns.at(-1)?.text ?? t('curl.text')}
        onChange={change}
        onNew={() => change({ session: freshSession() })}
      />
      <div className="mx-auto mt-8 grid max-w-3xl gap-8 pb-40">
        {past.data && <Past history={past.data} />}
        {empty && <Empty icon={<Sparkles />} title={t('play.empty')} text={t('play.empty.text')} />}
        <ol className="grid gap-9">
          {turns.turns.map((turn, index) => (
            <TurnView
              key={turn.id}
              turn={turn}
              onOpen={setPassage}
              onAgain={index === turns.turns.length - 1 ? again : undefined}
            />
          ))}
        </ol>
        <Follow turns={turns.turns} />
      </div>
      <Dock>
        <Composer
          running={running}
          voice={chosen.app ? null : voice}
          onSend={(text, images) => void send(request(text, images))}
          onStop={turns.stop}
        />
      </Dock>
      <ChunksDialog passage={passage} onClose={() => setPassage(null)} />
    </Page>
  )
}

/** Stays at the foot of the window, above what is said. */
function Dock({ children }: { readonly children: ReactNode }) {
  return (
    <div className="dock">
      <div className="mx-auto max-w-3xl">{children}</div>
    </div>
  )
}
