import { ArrowUp, MessageCircle } from 'lucide-react'
import type { App, Share } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { faceOf } from '../apps/face.ts'

interface PreviewProps {
  readonly app: App
  readonly look: Share['look']
  /** Whether the typed colour is one. */
  readonly isColor: boolean
}

const WINDOW = 'w-full max-w-80 overflow-hidden rounded-lg border border-line bg-surface'
const COMPOSER =
  'flex items-center justify-between gap-3 border-line border-t px-4 py-2 text-note text-ink-3'

/** What a visitor sees first, as it is typed: the chat, and the button that opens it on a site. */
export function LookPreview({ app, look, isColor }: PreviewProps) {
  const { t } = useI18n()
  const { icon, greeting, starters } = faceOf(app)
  const colored = isColor && look.color ? { background: look.color } : {}
  const side = look.position === 'right' ? 'justify-self-end' : 'justify-self-start'
  return (
    <section
      className="grid gap-3 rounded-lg bg-sunken p-4"
      aria-label={t('app.shares.preview')}
      lang={look.language === 'auto' ? undefined : look.language}
    >
      <div className={`${WINDOW} ${side}`}>
        <p className="border-line border-b px-4 py-3 font-medium break-words">
          {icon} {look.title ?? app.name}
        </p>
        <div className="grid gap-2 px-4 py-3 text-note">
          <p className="break-words whitespace-pre-wrap">{greeting || t('app.shares.hello')}</p>
          {starters.map((text) => (
            <p
              key={text}
              className="rounded-full border border-line px-3 py-1 text-small break-words"
            >
              {text}
            </p>
          ))}
        </div>
        <p className={COMPOSER}>
          {t('app.shares.ask')}
          <span
            className="grid size-8 flex-none place-items-center rounded-full bg-accent text-white"
            style={colored}
          >
            <ArrowUp size={16} aria-hidden />
          </span>
        </p>
      </div>
      <span
        className={`grid size-12 place-items-center rounded-full bg-accent text-white ${side}`}
        style={colored}
      >
        <MessageCircle size={22} aria-hidden />
      </span>
    </section>
  )
}
