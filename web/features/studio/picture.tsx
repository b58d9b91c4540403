import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Dialog } from '../../ui/dialog.tsx'

interface PictureProps {
  readonly src: string
  readonly number: number
}

/** A picture of a question; a click enlarges it. */
export function Picture({ src, number }: PictureProps) {
  const { t } = useI18n()
  const [isOpen, setOpen] = useState(false)
  const name = t('studio.image', { number })
  return (
    <>
      <button
        type="button"
        className="cursor-zoom-in rounded-lg"
        aria-label={t('studio.image.enlarge', { number })}
        onClick={() => setOpen(true)}
      >
        <img src={src} alt="" className="max-h-40 rounded-lg border border-line" />
      </button>
      <Dialog title={name} open={isOpen} onClose={() => setOpen(false)} wide>
        <img src={src} alt={name} className="mx-auto max-h-[75vh] max-w-full object-contain" />
      </Dialog>
    </>
  )
}
