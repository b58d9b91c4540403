import * as Menu from '@radix-ui/react-dropdown-menu'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, Cpu, type LucideIcon, Minus, Plus, Repeat2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { Button } from '../../ui/button.tsx'
import { IconMenu } from '../../ui/icon-menu.tsx'
import { type Turn, wordsIn } from './turn.ts'
import { lengthsFor, type Wish } from './wish.ts'

interface AgainProps {
  readonly turn: Turn
  /** Without a wish the answer is asked for as it comes. */
  readonly onAgain: (wish?: Wish) => void
}

/** Asks for another answer: at once, or by the menu from another model, shorter or longer. */
export function Again({ turn, onAgain }: AgainProps) {
  const { t } = useI18n()
  return (
    <span className="again when-idle">
      <Button
        kind="quiet"
        size="small"
        icon={<Repeat2 size={16} aria-hidden />}
        aria-label={t(turn.state === 'done' ? 'studio.again' : 'studio.retry')}
        onClick={() => onAgain()}
      />
      {!turn.isBuiltIn && turn.reply !== '' && <Otherwise turn={turn} onAgain={onAgain} />}
    </span>
  )
}

/** The menu beside *Again*. The built-in responder can do nothing otherwise. */
function Otherwise({ turn, onAgain }: AgainProps) {
  const { t } = useI18n()
  const mayChange = useMayChange()
  const { shorter, longer } = lengthsFor(wordsIn(turn.reply))
  const item = (label: string, Icon: LucideIcon, wish: Wish) => (
    <Menu.Item key={label} className="menu-item" onSelect={() => onAgain(wish)}>
      <Icon size={15} className="flex-none" aria-hidden />
      <span className="min-w-0 truncate">{label}</span>
    </Menu.Item>
  )
  return (
    <IconMenu
      label={t('studio.again.menu')}
      icon={<ChevronDown size={14} aria-hidden />}
      classes={{ button: 'again-menu', menu: 'picker-menu' }}
      align="start"
      collisionPadding={8}
    >
      {shorter !== null && item(t('studio.shorter'), Minus, { answer_words: shorter })}
      {longer !== null && item(t('studio.longer'), Plus, { answer_words: longer })}
      {mayChange && (
        <OtherModels model={turn.model}>{(model) => item(model, Cpu, { model })}</OtherModels>
      )}
    </IconMenu>
  )
}

interface OtherModelsProps {
  /** The one that has answered. */
  readonly model: string | null
  readonly children: (model: string) => ReactNode
}

/** The models that the channel of the workspace lists; nothing while it lists no other. */
function OtherModels({ model, children }: OtherModelsProps) {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['models'], queryFn: api.models, retry: false })
  const names = (query.data?.models ?? []).filter((name) => name !== model)
  if (names.length === 0) return null
  return (
    <>
      <Menu.Separator className="my-1.5 border-t border-line" />
      <Menu.Label className="menu-label">{t('studio.again.model')}</Menu.Label>
      {names.map(children)}
    </>
  )
}
