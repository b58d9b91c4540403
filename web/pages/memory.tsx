import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Brain } from 'lucide-react'
import { useState } from 'react'
import { FACT_CHARS_MAX } from '../../src/core/limits/contract.ts'
import { memories } from '../api/memories.ts'
import { MemoryRow } from '../features/memories/memory-row.tsx'
import { useSubjectName } from '../features/memories/subject-name.ts'
import { SuggestCard } from '../features/memories/suggest-card.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/form.tsx'
import { Form } from '../ui/form-end.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

/** What assistants remember of the person, or of the subject in the address, such as a device. */
export function MemoryPage() {
  const { t } = useI18n()
  const { subject: wanted }: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const subject = typeof wanted === 'string' && wanted !== '' ? wanted : null
  const query = useQuery({
    queryKey: ['memories', subject],
    queryFn: () => memories.list(subject),
  })
  const called = useSubjectName(subject ?? '')
  return (
    <Page
      title={t('nav.memory')}
      about={subject === null ? t('memory.about') : t('memory.about.of', { subject: called })}
    >
      <div className="grid grid-cols-1 gap-6">
        <AddForm key={subject} subject={subject} />
        {subject === null && <SuggestCard />}
        <Loaded query={query}>
          {(facts) =>
            facts.length === 0 ? (
              <div className="card">
                <Empty icon={<Brain />} title={t('memory.empty')} text={t('memory.empty.text')} />
              </div>
            ) : (
              <ul className="card divide-y divide-line">
                {facts.map((memory) => (
                  <MemoryRow key={memory.id} memory={memory} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

function AddForm({ subject }: { readonly subject: string | null }) {
  const { t } = useI18n()
  const [text, setText] = useState('')
  const add = useAction(memories.add, {
    done: 'memory.saved',
    refresh: ['memories'],
    onDone: () => setText(''),
  })
  return (
    <Form
      className="card grid gap-4 p-5"
      isWhole={text.trim() !== ''}
      onSend={() => add.mutate({ text: text.trim(), subject })}
    >
      <TextField
        label={t('memory.add')}
        hint={t('memory.add.hint')}
        value={text}
        maxLength={FACT_CHARS_MAX}
        required
        onText={setText}
      />
      <div className="flex justify-end">
        <Button type="submit" kind="primary" busy={add.isPending}>
          {t('action.save')}
        </Button>
      </div>
    </Form>
  )
}
