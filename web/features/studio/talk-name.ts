import { createContext } from 'react'

/** The name of the talk whose answers are shown. */
export const TalkName = createContext<string | null>(null)
