import * as Radix from '@radix-ui/react-dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { isComposing } from '../lib/composing.ts'
import { isDirty } from '../lib/dirty-forms.ts'
import { Button } from './button.tsx'
import { useMoved } from './finger.ts'
import { isMessage, usePageInert } from './page-inert.ts'

interface DialogProps {
  readonly title: ReactNode
  readonly about?: ReactNode
  readonly open: boolean
  readonly onClose: () => void
  readonly wide?: boolean
  /** Whether only its buttons close it, because its content is shown only once. */
  readonly firm?: boolean
  readonly children: ReactNode
}

/** Focuses the main control of the dialog, or the first field of a form; else Radix decides. */
function focusFirstField(event: Event) {
  const field = (event.currentTarget as Element).querySelector<HTMLElement>(
    '[data-first], form :is(input, textarea, select)',
  )
  if (!field) return
  event.preventDefault()
  field.focus()
}

/** Keeps input when a click outside, or the Escape key of an input method, would close it. */
function keepTyped(event: Event, firm: boolean) {
  const composing = event instanceof KeyboardEvent && isComposing(event)
  if (firm || composing || isDirty('.dialog')) event.preventDefault()
}

function keepForMessage(event: Event) {
  if (isMessage(event.target)) event.preventDefault()
}

/**
 * A modal dialog. Its backdrop is our own element, because Radix' overlay locks scrolling with a
 * style element, which the content security policy forbids; the style sheet locks it instead.
 */
export function Dialog(props: DialogProps) {
  const { title, about, open, onClose, wide, firm = false, children } = props
  const { t } = useI18n()
  usePageInert(open)
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content
          className="dialog"
          data-modal
          data-wide={wide || undefined}
          aria-describedby={undefined}
          onOpenAutoFocus={focusFirstField}
          onEscapeKeyDown={(event) => keepTyped(event, firm)}
          onInteractOutside={(event) => keepTyped(event, firm || isMessage(event.target))}
        >
          <div className="mb-4 flex items-start justify-between gap-4">
            <div className="min-w-0">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {about && <p className="mt-1 text-ink-2">{about}</p>}
            </div>
            <Radix.Close asChild>
              <Button
                kind="quiet"
                size="small"
                icon={<X size={16} aria-hidden />}
                aria-label={t('action.close')}
              />
            </Radix.Close>
          </div>
          {children}
          <div className="message-room" />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface ConfirmProps {
  readonly title: string
  /** The consequence, as a sentence. */
  readonly loss: ReactNode
  readonly action: string
  /** False when nothing is lost. */
  readonly isLoss?: boolean
  readonly open: boolean
  readonly busy: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for confirmation before data is lost. */
export function Confirm(props: ConfirmProps) {
  const { title, loss, action, isLoss = true, open, busy, onConfirm, onClose } = props
  const { t } = useI18n()
  usePageInert(open)
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content
          className="dialog"
          role="alertdialog"
          data-modal
          onInteractOutside={keepForMessage}
        >
          <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
          <Radix.Description className="mt-2 text-ink-2">{loss}</Radix.Description>
          <div className="mt-6 flex justify-end gap-2">
            <Button onClick={onClose}>{t('action.cancel')}</Button>
            <Button kind={isLoss ? 'danger' : 'primary'} busy={busy} onClick={onConfirm}>
              {action}
            </Button>
          </div>
          <div className="message-room" />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface DrawerProps {
  readonly title: string
  readonly open: boolean
  /** For one that a finger may pull in from its edge. */
  readonly onOpen?: () => void
  readonly onClose: () => void
  /** At the left or the right edge, or over the page. */
  readonly look?: 'drawer' | 'drawer at-right' | 'palette'
  readonly children: ReactNode
}

export function Drawer(props: DrawerProps) {
  const { title, open, onOpen, onClose, look = 'drawer', children } = props
  const { t } = useI18n()
  const isRight = look === 'drawer at-right'
  const moved = useMoved({ isRight, onOpen, onClose })
  usePageInert(open)
  return (
    <Radix.Root open={open} onOpenChange={(next) => next || onClose()}>
      <Radix.Portal>
        <div className="overlay" />
        <Radix.Content
          ref={look === 'palette' ? null : moved}
          className={look}
          data-modal
          aria-describedby={undefined}
          onInteractOutside={keepForMessage}
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {isRight && (
            <Radix.Close asChild>
              <Button
                kind="quiet"
                className="drawer-close"
                icon={<X size={17} aria-hidden />}
                aria-label={t('action.close')}
              />
            </Radix.Close>
          )}
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
