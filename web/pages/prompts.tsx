import { useQuery } from '@tanstack/react-query'
import { Pencil, Plus, SquareSlash, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Prompt, talks } from '../api/talks.ts'
import { PromptDialog } from '../features/prompts/prompt-dialog.tsx'
import { useI18n } from '../i18n/index.tsx'
import { useAction } from '../lib/services.tsx'
import { Button } from '../ui/button.tsx'
import { ForEditors } from '../ui/changeable.tsx'
import { Confirm } from '../ui/dialog.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'

type Asked = { readonly what: 'edit' | 'delete'; readonly prompt: Prompt | null }

/** Texts that are written once and asked often, by a slash and their names. */
export function Prompts() {
  const { t } = useI18n()
  const [asked, setAsked] = useState<Asked | null>(null)
  const query = useQuery({ queryKey: ['prompts'], queryFn: talks.prompts })
  const close = () => setAsked(null)
  const remove = useAction(talks.removePrompt, {
    done: 'prompts.deleted',
    onGone: close,
    refresh: ['prompts'],
    onDone: close,
  })
  const add = (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden />}
      onClick={() => setAsked({ what: 'edit', prompt: null })}
    >
      {t('prompts.new')}
    </Button>
  )
  const prompt = asked?.prompt ?? null
  return (
    <Page
      title={t('nav.prompts')}
      about={t('prompts.about')}
      actions={<ForEditors>{add}</ForEditors>}
    >
      <Loaded query={query}>
        {(prompts) =>
          prompts.length === 0 ? (
            <div className="card">
              <Empty
                icon={<SquareSlash />}
                title={t('prompts.empty')}
                text={t('prompts.empty.text')}
              />
            </div>
          ) : (
            <ul className="card divide-y divide-line">
              {prompts.map((item) => (
                <Row
                  key={item.id}
                  prompt={item}
                  onEdit={() => setAsked({ what: 'edit', prompt: item })}
                  onDelete={() => setAsked({ what: 'delete', prompt: item })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <PromptDialog prompt={prompt} open={asked?.what === 'edit'} onClose={close} />
      <Confirm
        title={t('prompts.delete.title', { name: prompt?.name ?? '' })}
        loss={t('prompts.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => prompt && remove.mutate(prompt.id)}
        onClose={close}
      />
    </Page>
  )
}

interface RowProps {
  readonly prompt: Prompt
  readonly onEdit: () => void
  readonly onDelete: () => void
}

function Row({ prompt: { name, title, text }, onEdit, onDelete }: RowProps) {
  const { t } = useI18n()
  const icon = { size: 15, 'aria-hidden': true } as const
  return (
    <li className="flex items-start gap-4 px-5 py-3">
      <div className="min-w-0 flex-1">
        <h2 className="min-w-0 text-base break-words">
          <code>/{name}</code> {title !== name && title}
        </h2>
        <p className="mt-1 line-clamp-2 text-note whitespace-pre-wrap text-ink-2">{text}</p>
      </div>
      <ForEditors>
        <div className="flex gap-1">
          <Button
            kind="quiet"
            size="small"
            icon={<Pencil {...icon} />}
            aria-label={t('prompts.edit.one', { name })}
            onClick={onEdit}
          />
          <Button
            kind="quiet"
            size="small"
            icon={<Trash2 {...icon} />}
            aria-label={t('prompts.delete.title', { name })}
            onClick={onDelete}
          />
        </div>
      </ForEditors>
    </li>
  )
}
