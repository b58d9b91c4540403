import { useI18n } from '../i18n/index.tsx'

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
