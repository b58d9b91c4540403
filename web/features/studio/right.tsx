import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { SetupForm } from './setup-form.tsx'
import type { Turn } from './turn.ts'
import type { Setup } from './use-setup.ts'
import { Why } from './why.tsx'

/** What the right side shows: why an answer came, or the setup of the next one. */
export type Leaf = 'sources' | 'setup'

interface RightProps {
  readonly leaf: Leaf
  readonly onLeaf: (leaf: Leaf) => void
  readonly setup: Setup
  readonly turn: Turn | null
  readonly onOpen: (passage: Passage) => void
}

export function Right({ leaf, onLeaf, setup, turn, onOpen }: RightProps) {
  const { t } = useI18n()
  const mayChange = useMayChange()
  return (
    <>
      {mayChange && (
        <div className="segmented">
          {(['sources', 'setup'] as const).map((name) => (
            <button
              key={name}
              type="button"
              className="flex-1"
              aria-pressed={leaf === name}
              onClick={() => onLeaf(name)}
            >
              {t(name === 'setup' ? 'studio.setup' : 'studio.right.sources')}
            </button>
          ))}
        </div>
      )}
      {leaf === 'setup' && mayChange ? (
        <SetupForm key={setup.app?.id ?? ''} setup={setup} />
      ) : (
        <Why turn={turn} onOpen={onOpen} />
      )}
    </>
  )
}
