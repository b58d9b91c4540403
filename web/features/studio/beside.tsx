import { Check, Menu, X } from 'lucide-react'
import { type RefObject, useEffect, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { ask, MENU_ASKED } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Composer } from './composer.tsx'
import { type Place, useTurns } from './conversations.ts'
import { Picker } from './picker.tsx'
import { SideTalk } from './side-talk.tsx'
import { ToEnd, useEnd } from './stick-to-bottom.tsx'
import { useBeside } from './use-beside.ts'
import type { useChosen } from './use-chosen.ts'
import { type Setup, setupPlace, useSetup } from './use-setup.ts'

interface BesideProps {
  readonly choice: ReturnType<typeof useChosen>
  readonly beside: NonNullable<Place['beside']>
  readonly setup: Setup
  readonly composer: RefObject<HTMLTextAreaElement | null>
}

const SIDES = [0, 1] as const

/** The same questions to two assistants or models, whose answers stand beside each other. */
export function Beside({ choice, beside, setup, composer }: BesideProps) {
  const { t } = useI18n()
  const { chosen, choose } = choice
  const onOther = (app: string) => choose({ beside: { session: beside.session, app } })
  const other = useSetup(beside.app, onOther, setupPlace(beside.app, true))
  const setups = [setup, other] as const
  const { isAsked, running, ask: say, keep, stop, stored } = useBeside({ choice, beside, setups })
  const newest = useTurns(chosen.session).at(-1)?.id
  const end = useEnd({
    place: chosen.session,
    isHeld: false,
    newest: stored.hasPreviousPage ? null : newest,
    onWanted: () => void stored.show(null),
  })
  const [shown, setShown] = useState<0 | 1>(0)
  const { session } = chosen
  useEffect(() => {
    if (session && matchMedia('(hover: hover)').matches) {
      composer.current?.focus({ preventScroll: true })
    }
  }, [composer, session])
  const talksOf = [
    { ...chosen, beside: null },
    { session: beside.session, app: beside.app },
  ] as const
  const onSession = (side: 0 | 1, session: string) =>
    side === 0 ? choose({ session, beside }) : choose({ beside: { session, app: beside.app } })
  return (
    <div className="talk" data-beside={isAsked ? shown : undefined}>
      <Top onEnd={() => choose({ beside: null })} />
      <div className="beside-bar">
        {isAsked && <Switch shown={shown} onShown={setShown} setups={setups} />}
        <div className="beside-heads">
          {SIDES.map((side) => (
            <div key={side} className="beside-head" data-side={side}>
              <Picker
                app={talksOf[side].app}
                setup={setups[side]}
                onApp={(app) => (side === 0 ? choose({ app }) : onOther(app))}
              />
              {isAsked && (
                <Button
                  size="small"
                  icon={<Check size={15} aria-hidden />}
                  disabled={running}
                  onClick={() => void keep(side)}
                >
                  {t('beside.keep')}
                </Button>
              )}
            </div>
          ))}
        </div>
      </div>
      <div className="beside-talks" ref={end.content}>
        {(isAsked ? SIDES : ([0] as const)).map((side) => (
          <section
            key={side}
            className="beside-talk"
            data-side={side}
            aria-label={t('beside.side', { number: side + 1 })}
          >
            <SideTalk
              key={talksOf[side].session}
              chosen={talksOf[side]}
              setup={setups[side]}
              onSession={(session) => onSession(side, session)}
            />
          </section>
        ))}
      </div>
      <div className="dock">
        <ToEnd end={end} running={running} />
        {!isAsked && <p className="pb-2 text-center text-note text-ink-2">{t('beside.text')}</p>}
        <div className="message-room" />
        <Composer
          key={chosen.session}
          session={chosen.session}
          field={composer}
          running={running}
          holds
          onApp={(app) => choose({ app })}
          onSend={say}
          onStop={stop}
        />
      </div>
    </div>
  )
}

function Top({ onEnd }: { readonly onEnd: () => void }) {
  const { t } = useI18n()
  const icon = { size: 17, 'aria-hidden': true } as const
  return (
    <header className="talk-head">
      <span className="menu-button">
        <Button
          kind="quiet"
          icon={<Menu {...icon} />}
          aria-label={t('nav.menu')}
          onClick={() => ask(MENU_ASKED)}
        />
      </span>
      <div className="talk-name">
        <h1 tabIndex={-1}>{t('beside.title')}</h1>
      </div>
      <Button kind="quiet" icon={<X {...icon} />} aria-label={t('beside.end')} onClick={onEnd} />
    </header>
  )
}

interface SwitchProps {
  readonly shown: 0 | 1
  readonly onShown: (side: 0 | 1) => void
  readonly setups: readonly [Setup, Setup]
}

/** On a narrow screen one side is shown at a time. */
function Switch({ shown, onShown, setups }: SwitchProps) {
  const { t } = useI18n()
  const names = setups.map(({ app, draft: { model } }) =>
    [app?.name ?? t('studio.app.none'), model].filter(Boolean).join(' · '),
  )
  const isSame = names[0] === names[1]
  return (
    <div className="segmented beside-switch">
      {SIDES.map((side) => (
        <button
          key={side}
          type="button"
          className="min-w-0 flex-1 truncate"
          aria-pressed={shown === side}
          onClick={() => onShown(side)}
        >
          {isSame && `${side + 1} · `}
          {names[side]}
        </button>
      ))}
    </div>
  )
}
