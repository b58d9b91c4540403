import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, Smile, Star, StarOff, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../api/index.ts'
import type { Persona } from '../api/types.ts'
import { PersonaDialog } from '../features/personas/persona-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Badge, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

type Asked = { readonly what: 'edit' | 'delete'; readonly persona: Persona | null }

export function Personas() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useQuery({ queryKey: ['personas'], queryFn: api.personas.list })
  const close = () => setAsked(null)
  const remove = useAction(api.personas.remove, {
    done: 'personas.deleted',
    onGone: close,
    refresh: ['personas'],
    onDone: close,
  })
  const add = (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden />}
      onClick={() => setAsked({ what: 'edit', persona: null })}
    >
      {t('personas.new')}
    </Button>
  )
  const persona = asked?.persona ?? null
  return (
    <Page
      title={t('nav.personas')}
      about={t('personas.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      <Loaded query={query}>
        {({ personas }) =>
          personas.length === 0 ? (
            <div className="card">
              <Empty icon={<Smile />} title={t('personas.empty')} text={t('personas.empty.text')} />
            </div>
          ) : (
            <ul className="grid grid-cols-1 gap-3 sm:grid-cols-2">
              {personas.map((item) => (
                <PersonaCard
                  key={item.id}
                  persona={item}
                  onEdit={() => setAsked({ what: 'edit', persona: item })}
                  onDelete={() => setAsked({ what: 'delete', persona: item })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <PersonaDialog persona={persona} open={asked?.what === 'edit'} onClose={close} />
      <Confirm
        title={t('personas.delete.title', { name: persona?.name ?? '' })}
        loss={t('personas.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => persona && remove.mutate(persona.id)}
        onClose={close}
      />
    </Page>
  )
}

interface CardProps {
  readonly persona: Persona
  readonly onEdit: () => void
  readonly onDelete: () => void
}

function PersonaCard({ persona, onEdit, onDelete }: CardProps) {
  const { t } = useI18n()
  const chosen = persona.is_default === 1
  const setDefault = useAction((on: boolean) => api.personas.setDefault(persona.id, on), {
    done: 'personas.default.done',
    refresh: ['personas'],
  })
  const icon = { size: 15, 'aria-hidden': true } as const
  const setting = t(chosen ? 'personas.default.clear' : 'personas.default.set')
  return (
    <li className="card flex flex-col p-5">
      <div className="flex items-start justify-between gap-3">
        <h2 className="min-w-0 break-words">{persona.name}</h2>
        {chosen && <Badge tone="accent">{t('personas.default')}</Badge>}
      </div>
      <p className="mt-1.5 line-clamp-4 flex-1 text-note whitespace-pre-wrap text-ink-2">
        {persona.prompt}
      </p>
      <ForEditors>
        <div className="mt-4 -ml-2 flex gap-1">
          <Button
            kind="quiet"
            size="small"
            icon={<Pencil {...icon} />}
            aria-label={t('system.summary', { name: t('action.edit'), value: persona.name })}
            onClick={onEdit}
          >
            {t('action.edit')}
          </Button>
          <Button
            kind="quiet"
            size="small"
            busy={setDefault.isPending}
            icon={chosen ? <StarOff {...icon} /> : <Star {...icon} />}
            aria-label={t('system.summary', { name: setting, value: persona.name })}
            onClick={() => setDefault.mutate(!chosen)}
          >
            {setting}
          </Button>
          <span className="flex-1" />
          <Button
            kind="quiet"
            size="small"
            icon={<Trash2 {...icon} />}
            aria-label={t('personas.delete.title', { name: persona.name })}
            onClick={onDelete}
          />
        </div>
      </ForEditors>
    </li>
  )
}
