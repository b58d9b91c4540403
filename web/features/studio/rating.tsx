import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { createContext, useContext, useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'

/** The name of the talk whose answers are shown. */
export const TalkName = createContext<string | null>(null)

/** Two thumbs under a stored answer; pressing one again takes it back. */
export function Rating({ seq }: { readonly seq: number }) {
  const { t } = useI18n()
  const session = useContext(TalkName)
  const [rating, setRating] = useState<number>(0)
  const give = useAction(api.feedback.give, {
    done: 'feedback.thanks',
    refresh: ['feedback'],
    onDone: ({ rating: given }) => setRating(given),
  })
  if (session === null) return null
  const press = (value: 1 | -1) => {
    const input = { rating: rating === value ? 0 : value, reason: null, text: null, share: false }
    give.mutate({ session, seq, input } as Parameters<typeof api.feedback.give>[0])
  }
  const icon = { size: 16, 'aria-hidden': true } as const
  return (
    <>
      <Button
        kind="quiet"
        size="small"
        icon={<ThumbsUp {...icon} fill={rating > 0 ? 'currentColor' : 'none'} />}
        aria-label={t('feedback.good')}
        aria-pressed={rating > 0}
        onClick={() => press(1)}
      />
      <Button
        kind="quiet"
        size="small"
        icon={<ThumbsDown {...icon} fill={rating < 0 ? 'currentColor' : 'none'} />}
        aria-label={t('feedback.bad')}
        aria-pressed={rating < 0}
        onClick={() => press(-1)}
      />
    </>
  )
}
