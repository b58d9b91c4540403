import { useLayoutEffect, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'

/** Plays a spoken reply. Its address holds the sound in memory until it is given back. */
export function Sound({ sound }: { readonly sound: Blob }) {
  const { t } = useI18n()
  const [address, setAddress] = useState('')
  useLayoutEffect(() => {
    const here = URL.createObjectURL(sound)
    setAddress(here)
    return () => URL.revokeObjectURL(here)
  }, [sound])
  if (address === '') return null
  return (
    <audio
      key={address}
      controls
      autoPlay
      src={address}
      aria-label={t('studio.speak')}
      className="h-13 w-full"
    >
      <track kind="captions" />
    </audio>
  )
}
