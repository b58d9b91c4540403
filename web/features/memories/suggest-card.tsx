import { useMutation, useQuery } from '@tanstack/react-query'
import { Plus, Sparkles } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { memories } from '../../api/memories.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/form.tsx'
import { useShownTitle } from '../sessions/shown-title.ts'

/** Facts of a conversation that a person may keep; nothing is kept without a click. */
export function SuggestCard() {
  const { t } = useI18n()
  const shownTitle = useShownTitle()
  const [chosen, setChosen] = useState('')
  const recent = useQuery({
    queryKey: ['memory-talks'],
    queryFn: () => api.conversations.list({ of: 'mine' }),
  })
  const list = recent.data?.conversations ?? []
  const session = chosen || list[0]?.id
  const suggest = useMutation({ mutationFn: memories.suggest })
  const [kept, setKept] = useState<readonly string[]>([])
  const keep = useAction((text: string) => memories.add({ text, subject: null }), {
    done: 'memory.saved',
    refresh: ['memories'],
    several: true,
    onDone: (_memory, text) => setKept((before) => [...before, text]),
  })
  if (!session) return null
  // What another conversation has suggested stands under no other.
  const isOfThis = suggest.variables === session
  const found = isOfThis ? (suggest.data ?? []).filter((text) => !kept.includes(text)) : []
  return (
    <section className="card grid grid-cols-1 gap-4 p-5">
      <SelectField
        label={t('memory.suggest.from')}
        value={session}
        choices={list.map(({ id, title }) => ({ value: id, label: shownTitle(title) }))}
        onPick={setChosen}
      />
      <div>
        <Button
          icon={<Sparkles size={16} aria-hidden />}
          busy={suggest.isPending}
          onClick={() => suggest.mutate(session)}
        >
          {t('memory.suggest')}
        </Button>
      </div>
      {suggest.isSuccess && isOfThis && found.length === 0 && (
        <p role="status" className="text-note text-ink-3">
          {t('memory.suggest.none')}
        </p>
      )}
      <ul className="divide-y divide-line">
        {found.map((text) => (
          <li key={text} className="flex items-center gap-4 py-2">
            <span className="min-w-0 flex-1 break-words">{text}</span>
            <Button
              size="small"
              icon={<Plus size={15} aria-hidden />}
              onClick={() => keep.mutate(text)}
            >
              {t('memory.keep')}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
