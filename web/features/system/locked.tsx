import { Lock } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'

interface LockedProps {
  /** What the environment has set, by their names there. */
  readonly names: readonly string[]
}

/** Says that a value cannot be changed here; the name of its variable waits behind the line. */
export function Locked({ names }: LockedProps) {
  const { t } = useI18n()
  return (
    <details className="text-note text-ink-3">
      <summary className="target inline-flex cursor-pointer items-center gap-2">
        <Lock size={15} aria-hidden />
        {t('system.locked')}
      </summary>
      <p className="mt-2 break-all">
        {names.map((name) => (
          <code key={name} className="mr-3 inline-block">
            {name}
          </code>
        ))}
      </p>
    </details>
  )
}
