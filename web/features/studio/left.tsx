import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import type { Place } from './conversations.ts'
import { Rail } from './rail.tsx'
import { SetupForm } from './setup-form.tsx'
import type { Setup } from './use-setup.ts'

type Leaf = 'rail' | 'setup'

interface LeftProps {
  readonly setup: Setup
  readonly session: string
  /** The tab that is shown at first. */
  readonly first: Leaf
  readonly onPick: (place: Place) => void
  readonly onNew: () => void
}

/** The list of conversations, or the setup of the open one. */
export function Left({ setup, session, first, onPick, onNew }: LeftProps) {
  const { t } = useI18n()
  const [leaf, setLeaf] = useState(first)
  return (
    <>
      <div className="segmented">
        {(['rail', 'setup'] as const).map((name) => (
          <button
            key={name}
            type="button"
            className="flex-1"
            aria-pressed={leaf === name}
            onClick={() => setLeaf(name)}
          >
            {t(`studio.${name}`)}
          </button>
        ))}
      </div>
      {leaf === 'rail' ? (
        <Rail session={session} onPick={onPick} onNew={onNew} />
      ) : (
        <SetupForm key={setup.app?.id ?? ''} setup={setup} />
      )}
    </>
  )
}
