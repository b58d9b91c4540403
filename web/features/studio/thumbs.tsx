import { X } from 'lucide-react'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'

interface ThumbsProps {
  readonly images: readonly string[]
  readonly onDrop: (place: number) => void
}

/** The pictures of a question being written. */
export function Thumbs({ images, onDrop }: ThumbsProps) {
  const { t } = useI18n()
  if (images.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-2 px-1 pt-1">
      {withIndexKeys(images).map(({ key, item: image }, index) => (
        <li key={key} className="relative">
          <img
            src={image}
            alt={t('studio.image', { number: index + 1 })}
            className="size-16 rounded-lg border border-line object-cover"
          />
          <button
            type="button"
            className="thumb-drop absolute -top-2 -right-2 rounded-full bg-ink p-1 text-bg"
            aria-label={t('studio.image.drop', { number: index + 1 })}
            onClick={() => onDrop(index)}
          >
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  )
}
