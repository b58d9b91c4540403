import { lazy, Suspense } from 'react'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { asksOf, type Turn } from './turn.ts'

const AskCard = lazy(async () => {
  const { AskCard: Loaded } = await loadChunk(() => import('./ask-card.tsx'))
  return { default: Loaded }
})

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
