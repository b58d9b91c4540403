import { Brain } from 'lucide-react'
import { useState } from 'react'
import { type MemoryWrite, memories } from '../../api/memories.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'

/** What an answer has remembered, to be taken back by a click, and what it has forgotten. */
export function Remembered({ writes }: { readonly writes: readonly MemoryWrite[] }) {
  const { t } = useI18n()
  const [undone, setUndone] = useState<readonly string[]>([])
  const undo = useAction(memories.remove, {
    done: 'memory.deleted',
    refresh: ['memories'],
    several: true,
    onDone: (_deleted, id) => setUndone((before) => [...before, id]),
  })
  const shown = writes.filter(({ id }) => !undone.includes(id))
  if (shown.length === 0) return null
  return (
    <ul className="grid gap-1 text-small text-ink-3" data-testid="remembered">
      {shown.map(({ action, id, text }) => (
        <li key={`${action} ${id}`} className="flex flex-wrap items-center gap-2">
          <Brain size={13} aria-hidden />
          <span className="min-w-0 break-words">{t(`memory.${action}`, { text })}</span>
          {action === 'remembered' && (
            <Button kind="quiet" size="small" onClick={() => undo.mutate(id)}>
              {t('memory.undo')}
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
