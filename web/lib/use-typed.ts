import { useEffect, useEffectEvent, useState } from 'react'
import { useSettled } from './use-settled.ts'

/** The text of a field that filters: `onText` is told of it once the typing pauses. */
export function useTyped(value: string, onText: (text: string) => void) {
  const [text, setText] = useState(value)
  const [shown, setShown] = useState(value)
  // The filter was taken away elsewhere, or the address was changed.
  if (shown !== value) {
    setShown(value)
    if (text.trim() !== value) setText(value)
  }
  const settled = useSettled(text.trim())
  const tell = useEffectEvent((typed: string) => {
    if (typed === text.trim() && typed !== value) onText(typed)
  })
  useEffect(() => tell(settled), [settled])
  return [text, setText] as const
}
