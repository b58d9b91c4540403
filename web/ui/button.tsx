import { Check, Copy, LoaderCircle } from 'lucide-react'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { useToasts } from '../lib/services.tsx'

interface ButtonProps extends ComponentProps<'button'> {
  readonly kind?: 'primary' | 'quiet' | 'danger' | undefined
  readonly size?: 'small' | undefined
  readonly icon?: ReactNode
  readonly busy?: boolean | undefined
  /** Whether the button has nothing to do, such as to save an unchanged form. */
  readonly idle?: boolean | undefined
}

/**
 * A busy or idle button ignores clicks but keeps the focus, which a disabled one would lose. One
 * that has the focus when it becomes disabled is idle until the focus leaves it.
 */
export function Button(props: ButtonProps) {
  const { kind, size, icon, busy, idle, children, onClick, disabled, ...rest } = props
  const [isHere, setHere] = useState(false)
  const ignores = busy || idle || disabled
  return (
    <button
      type="button"
      onFocus={() => setHere(true)}
      onBlur={() => setHere(false)}
      {...rest}
      disabled={disabled && !isHere}
      className={`btn ${rest.className ?? ''}`}
      data-kind={kind}
      data-size={size}
      data-shape={children === undefined ? 'icon' : undefined}
      aria-busy={busy}
      aria-disabled={ignores || undefined}
      onClick={ignores ? (event) => event.preventDefault() : onClick}
    >
      {busy ? <LoaderCircle size={16} className="animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  )
}

const COPIED_MS = 1_600

interface CopyProps {
  readonly text: string
  readonly label?: string
  /** Names the copied text when a page has several such buttons. */
  readonly what?: string
  readonly size?: 'small'
}

/** Copies a text and says so; without a label it is an icon with an accessible name. */
export function CopyButton({ text, label, what, size }: CopyProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await writeClipboard(text)
      setCopied(true)
      setTimeout(() => setCopied(false), COPIED_MS)
    } catch {
      toasts.show('bad', t('copy.failed'))
    }
  }
  const icon = copied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />
  const action = label ?? (what === undefined ? t('copy.action') : t('copy.what', { what }))
  return (
    <>
      <Button kind="quiet" size={size} icon={icon} onClick={() => void copy()} aria-label={action}>
        {label === undefined ? undefined : copied ? t('copy.done') : label}
      </Button>
      <span role="status" className="sr-only">
        {copied && t('copy.done')}
      </span>
    </>
  )
}

/**
 * Browsers have no clipboard API on plain http pages of another machine. The text is then copied
 * from a field beside the button, because an open dialog allows no selection outside it.
 */
export async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const button = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.className = 'sr-only'
  const place = button?.closest('[data-modal]') ?? document.body
  place.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (button instanceof HTMLElement) button.focus()
  if (!done) throw new Error('copy refused')
}
