import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { useContext, useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TalkName } from './talk-name.ts'
import type { Pages } from './use-stored.ts'

interface RatingProps {
  readonly seq: number
  /** The thumb that is kept; 0 for none. */
  readonly rating: number
}

/** Two thumbs under a stored answer; pressing one again takes it back. */
export function Rating({ seq, rating: kept }: RatingProps) {
  const { t } = useI18n()
  const client = useQueryClient()
  const session = useContext(TalkName)
  const [given, setGiven] = useState<number | null>(null)
  const rating = given ?? kept
  const give = useAction(api.feedback.give, {
    done: 'feedback.thanks',
    refresh: ['feedback'],
    onDone: (now) => {
      setGiven(now.rating)
      if (session !== null) showRating(client, session, seq, now.rating)
    },
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

/** Shows a thumb that was given, without a request. */
const showRating = (client: QueryClient, session: string, seq: number, rating: number) =>
  void client.setQueryData<Pages>(['transcript', session], (shown) => {
    if (!shown) return shown
    const pages = shown.pages.map((page) => ({
      ...page,
      turns: page.turns.map((turn) => (turn.seq === seq ? { ...turn, rating } : turn)),
    }))
    return { ...shown, pages }
  })
