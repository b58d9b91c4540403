import { Pencil, Pin, PinOff, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import { FACT_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { type Memory, memories } from '../../api/memories.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'

type Fact = Pick<Memory, 'id' | 'text' | 'pinned'>

/** One fact: read, changed in place, pinned or deleted. */
export function MemoryRow({ memory }: { readonly memory: Memory }) {
  const { t } = useI18n()
  const { id } = memory
  const [typed, setTyped] = useState<string | null>(null)
  const refresh = ['memories']
  const [asks, setAsks] = useState(false)
  const edit = useRef<HTMLButtonElement>(null)
  const close = () => {
    setTyped(null)
    requestAnimationFrame(() => edit.current?.focus())
  }
  const line = useRef<Promise<unknown>>(Promise.resolve())
  /** One after another, because each sends the whole fact. */
  const send = (fact: Fact) => {
    const sent = line.current.then(() => memories.change(fact))
    line.current = sent.catch(() => {})
    return sent
  }
  const pin = useAction(send, { done: 'memory.saved', refresh })
  const change = useAction(send, { done: 'memory.saved', refresh, onDone: close })
  // The list may not tell yet.
  const [latest] = [pin, change]
    .filter(({ isPending }) => isPending)
    .sort((one, other) => other.submittedAt - one.submittedAt)
  const { text, pinned } = latest?.variables ?? memory
  const remove = useAction(memories.remove, { done: 'memory.deleted', refresh })
  const icon = { size: 15, 'aria-hidden': true } as const
  if (typed !== null) {
    return (
      <li className="px-5 py-3" onKeyDown={(event) => event.key === 'Escape' && close()}>
        <Form
          className="grid gap-3"
          isWhole={typed.trim() !== ''}
          onSend={() => change.mutate({ id, text: typed.trim(), pinned })}
        >
          <TextField
            label={t('memory.text')}
            value={typed}
            maxLength={FACT_CHARS_MAX}
            autoFocus
            required
            onText={setTyped}
          />
          <FormEnd busy={change.isPending} onCancel={close} />
        </Form>
      </li>
    )
  }
  return (
    <li className="flex items-start gap-4 px-5 py-3">
      <p className="min-w-0 flex-1 break-words">{text}</p>
      <div className="flex gap-1">
        <Button
          kind="quiet"
          size="small"
          icon={pinned ? <PinOff {...icon} /> : <Pin {...icon} />}
          aria-label={t(pinned ? 'memory.unpin' : 'memory.pin', { text })}
          onClick={() => pin.mutate({ id, text, pinned: !pinned })}
        />
        <Button
          ref={edit}
          kind="quiet"
          size="small"
          icon={<Pencil {...icon} />}
          aria-label={t('memory.edit', { text })}
          onClick={() => setTyped(text)}
        />
        <Button
          kind="quiet"
          size="small"
          icon={<Trash2 {...icon} />}
          aria-label={t('memory.delete', { text })}
          onClick={() => setAsks(true)}
        />
      </div>
      <Confirm
        title={t('memory.delete.title')}
        loss={t('memory.delete.loss', { text })}
        action={t('memory.delete.go')}
        open={asks}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(id)}
        onClose={() => setAsks(false)}
      />
    </li>
  )
}
