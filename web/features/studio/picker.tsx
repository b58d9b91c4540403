import * as Menu from '@radix-ui/react-dropdown-menu'
import { useQuery } from '@tanstack/react-query'
import { Check, ChevronDown, Columns2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { faceOf } from '../apps/face.ts'
import type { Setup } from './use-setup.ts'

interface PickerProps {
  readonly app: string
  readonly setup: Setup
  readonly onApp: (app: string) => void
  /** Puts another talk beside this one; absent where that cannot be. */
  readonly onBeside?: (() => void) | undefined
}

/** Who answers: an assistant, and for editors the model behind it. */
export function Picker({ app, setup, onApp, onBeside }: PickerProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const mayChange = useMayChange()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const model = setup.draft.model.trim()
  const { icon } = faceOf(setup.app)
  const name = setup.app?.name ?? t('studio.app.none')
  return (
    <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Menu.Trigger className="picker" aria-label={t('studio.picker', { name, model })}>
        {icon && <span aria-hidden>{icon}</span>}
        <span className="truncate">{name}</span>
        {model && <span className="hidden truncate text-ink-3 sm:inline">{model}</span>}
        <ChevronDown size={14} className="flex-none" aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu picker-menu" align="start" sideOffset={4}>
          <Menu.Label className="menu-label">{t('nav.assistants')}</Menu.Label>
          <Menu.RadioGroup value={app} onValueChange={onApp}>
            <Choice value="" name={t('studio.app.none')} />
            {(apps.data?.apps ?? []).map((one) => (
              <Choice key={one.id} value={one.id} name={one.name} icon={faceOf(one).icon} />
            ))}
          </Menu.RadioGroup>
          {isOpen && mayChange && (
            <Models model={model} onModel={(next) => setup.change({ model: next })} />
          )}
          {onBeside && (
            <>
              <Menu.Separator className="my-1.5 border-t border-line" />
              <Menu.Item className="menu-item" onSelect={onBeside}>
                <Columns2 size={15} aria-hidden />
                {t('beside.begin')}
              </Menu.Item>
            </>
          )}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  )
}

interface ModelsProps {
  readonly model: string
  readonly onModel: (model: string) => void
}

/** The models that the channel of the workspace lists; nothing while it lists none. */
function Models({ model, onModel }: ModelsProps) {
  const { t } = useI18n()
  const query = useQuery({ queryKey: ['models'], queryFn: api.models, retry: false })
  const listed = query.data?.models ?? []
  const names = model === '' || listed.includes(model) ? listed : [model, ...listed]
  if (names.length === 0) return null
  return (
    <>
      <Menu.Separator className="my-1.5 border-t border-line" />
      <Menu.Label className="menu-label">{t('studio.models')}</Menu.Label>
      <Menu.RadioGroup value={model} onValueChange={onModel}>
        <Choice value="" name={t('studio.models.usual')} />
        {names.map((name) => (
          <Choice key={name} value={name} name={name} />
        ))}
      </Menu.RadioGroup>
    </>
  )
}

interface ChoiceProps {
  readonly value: string
  readonly name: string
  readonly icon?: string | null
}

const Choice = ({ value, name, icon }: ChoiceProps) => (
  <Menu.RadioItem value={value} className="menu-item">
    <span className="w-4">
      <Menu.ItemIndicator>
        <Check size={15} aria-hidden />
      </Menu.ItemIndicator>
    </span>
    {icon && <span aria-hidden>{icon}</span>}
    <span className="min-w-0 truncate">{name}</span>
  </Menu.RadioItem>
)
