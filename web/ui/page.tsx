import { Info } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { useTimes } from '../lib/time.ts'

interface PageProps {
  readonly title: string
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page of the console. Its heading gets the focus when the page opens. */
export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Moonbase`
  }, [title])
  return (
    <div className="page">
      <header className="mb-7 flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
        <div className="min-w-0">
          <h1 tabIndex={-1}>{title}</h1>
          {about && <p className="mt-1.5 max-w-2xl text-ink-2">{about}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

interface SectionProps {
  readonly title: ReactNode
  readonly about?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

export function Section({ title, about, actions, children }: SectionProps) {
  return (
    <section className="mt-9 first:mt-0">
      <div className="mb-3 flex flex-wrap items-end justify-between gap-3">
        <div>
          <h2>{title}</h2>
          {about && <p className="text-note text-ink-2">{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'accent'

interface ToneProps {
  readonly tone?: Tone | undefined
  readonly icon?: ReactNode
  readonly children: ReactNode
}

/** A name; a long one is truncated, and shown in full on hover. */
interface BadgeProps extends ToneProps {
  /** The tooltip; by default the text, which may be truncated. */
  readonly title?: string
}

export function Badge({ tone, icon, title, children }: BadgeProps) {
  return (
    <span
      className="badge"
      data-tone={tone}
      title={title ?? (typeof children === 'string' ? children : undefined)}
    >
      {icon}
      <span className="truncate">{children}</span>
    </span>
  )
}

export function Notice({ tone, icon, children }: ToneProps) {
  return (
    <div className="notice" data-tone={tone}>
      {icon ?? <Info size={16} aria-hidden />}
      <div className="min-w-0">{children}</div>
    </div>
  )
}

/** A relative time, with the exact time on hover and for screen readers. */
export function Ago({ at }: { readonly at: string | number }) {
  const { ago, exact } = useTimes()
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)} className="whitespace-nowrap">
      {ago(at)}
    </time>
  )
}

export function Id({ children }: { readonly children: string }) {
  return <code className="text-ink-2">{children}</code>
}

/** From this share of the limit on a count is of use. */
const NEAR = 0.8

/** The characters of a text, as the server counts them; 0 while they are far from the limit. */
export function charsNear(text: string, max: number): number {
  if (text.length < NEAR * max) return 0
  const count = [...text.trim()].length
  return count < NEAR * max ? 0 : count
}

/** A count beside its limit; nothing for none. */
export function CharCount({ count, max }: { readonly count: number; readonly max: number }) {
  const { locale } = useI18n()
  if (count === 0) return null
  return (
    <span className={`text-mini ${count > max ? 'text-bad' : 'text-ink-3'}`}>
      {count.toLocaleString(locale)} / {max.toLocaleString(locale)}
    </span>
  )
}
