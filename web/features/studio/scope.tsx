import { Library, Wrench, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { useCollections } from '../kb/collections.ts'
import type { Setup } from './use-setup.ts'

interface ScopeProps {
  /** The collections that the question is asked of; empty: all that the assistant sees. */
  readonly collections: readonly string[]
  readonly onDrop: (id: string) => void
  readonly setup: Setup | undefined
  readonly onTools: () => void
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** What narrows the question being written: collections, and tools other than the saved ones. */
export function Scope({ collections, onDrop, setup, onTools }: ScopeProps) {
  const { t } = useI18n()
  const known = useCollections()
  const nameOf = (id: string) =>
    known.find((one) => one.id === id)?.name ?? t('apps.collections.gone')
  const tools = setup?.draft.tools ?? null
  const saved = setup?.app?.tools_enabled ?? null
  const icon = { size: 15, className: 'flex-none', 'aria-hidden': true } as const
  return (
    <ul className="flex flex-wrap gap-2 px-1 pt-1 empty:hidden" aria-label={t('studio.scope')}>
      {collections.map((id) => (
        <Chip
          key={id}
          sign={<Library {...icon} />}
          drop={t('studio.scope.drop', { name: nameOf(id) })}
          onDrop={() => onDrop(id)}
        >
          <span className="truncate">{nameOf(id)}</span>
        </Chip>
      ))}
      {setup && !isSame(tools, saved) && (
        <Chip
          sign={<Wrench {...icon} />}
          drop={t('studio.scope.tools.drop')}
          onDrop={() => setup.change({ tools: saved })}
        >
          <button type="button" className="truncate underline" onClick={onTools}>
            {tools === null
              ? t('studio.scope.tools.all')
              : t('studio.scope.tools', { count: tools.length })}
          </button>
        </Chip>
      )}
    </ul>
  )
}

interface ChipProps {
  readonly sign: ReactNode
  readonly drop: string
  readonly onDrop: () => void
  readonly children: ReactNode
}

const Chip = ({ sign, drop, onDrop, children }: ChipProps) => (
  <li className="attachment">
    {sign}
    {children}
    <Button
      kind="quiet"
      size="small"
      icon={<X size={15} aria-hidden />}
      aria-label={drop}
      onClick={onDrop}
    />
  </li>
)
