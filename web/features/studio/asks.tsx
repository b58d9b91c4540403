import { Suspense } from 'react'
import { lazyPart } from '../../lib/lazy-part.ts'
import { asksOf, type Turn } from './turn.ts'

const AskCard = lazyPart(() => import('./ask-card.tsx'), 'AskCard')

/** What the turn that runs asks its person, above the composer. */
export function Asks({ turns }: { readonly turns: readonly Turn[] }) {
  const asks = turns.flatMap(asksOf)
  if (asks.length === 0) return null
  return (
    <Suspense>
      {asks.map((ask) => (
        <AskCard key={ask.id} ask={ask} />
      ))}
    </Suspense>
  )
}
