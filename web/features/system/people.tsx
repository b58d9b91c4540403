import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Person } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { More } from '../../ui/more.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { AddPerson } from './add-person.tsx'
import { usePersonActs } from './person-acts.tsx'
import { PersonRow } from './person-row.tsx'

const STEP = 50

const KINDS = ['all', 'operators', 'disabled', 'never'] as const
type Kind = (typeof KINDS)[number]

const IS: Readonly<Record<Kind, (person: Person) => boolean>> = {
  all: () => true,
  operators: ({ operator, named }) => operator || named,
  disabled: ({ disabled }) => disabled,
  never: ({ last_sign_in_at }) => last_sign_in_at === null,
}

/** Whether a word is in the address of a person or in the name of one of their workspaces. */
const hits = (word: string) => (person: Person) =>
  [person.email, ...person.tenants.map(({ name }) => name)].some((text) =>
    text.toLowerCase().includes(word),
  )

/** Everybody who can sign in; a page may ask before it shows them. */
export const usePeople = (enabled: boolean) =>
  useQuery({ queryKey: ['people'], queryFn: api.system.people, enabled })

/** The people who can sign in to this server. */
export function People() {
  const { t } = useI18n()
  const people = usePeople(true)
  const { acts, dialogs } = usePersonActs()
  const me = useQuery({ queryKey: ['me'], queryFn: api.auth.me })
  const [adding, setAdding] = useState(false)
  const [text, setText] = useState('')
  const [kind, setKind] = useState<Kind>('all')
  const word = text.trim().toLowerCase()
  const kinds = KINDS.map((value) => ({ value, label: t(`people.kind.${value}`) }))
  return (
    <Section
      title={t('people.all')}
      actions={
        <Button icon={<UserPlus size={16} aria-hidden />} onClick={() => setAdding(true)}>
          {t('people.add')}
        </Button>
      }
    >
      <Loaded query={people}>
        {({ people: list }) => {
          const rows = list.filter(IS[kind]).filter(hits(word))
          return (
            <>
              <div className="mb-3 grid gap-3 sm:grid-cols-2">
                <TextField label={t('people.find')} type="search" value={text} onText={setText} />
                <SelectField
                  label={t('people.kind')}
                  value={kind}
                  choices={kinds}
                  onPick={(value) => setKind(value as Kind)}
                />
              </div>
              <div className="card">
                {rows.length === 0 && <Empty icon={<UserPlus />} title={t('people.none')} />}
                <More key={`${kind} ${word}`} rows={rows} step={STEP}>
                  {(shown) => (
                    <ul className="divide-y divide-line">
                      {shown.map((one) => (
                        <PersonRow
                          key={one.id}
                          person={one}
                          isMe={one.id === me.data?.user_id}
                          acts={acts}
                        />
                      ))}
                    </ul>
                  )}
                </More>
              </div>
            </>
          )
        }}
      </Loaded>
      {dialogs}
      <Dialog title={t('people.add')} open={adding} onClose={() => setAdding(false)}>
        <AddPerson onClose={() => setAdding(false)} />
      </Dialog>
    </Section>
  )
}
